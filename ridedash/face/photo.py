"""Turns a photograph that a manager chose into two crops for the property's kiosks.

Its kind follows from its first bytes, as that of a logo does. It is read into pixels (pictures.py),
cropped, darkened and written as two JPEG (photo_crops.py); the file itself is never stored.
"""

from ridedash.face import MOST_PHOTO_BYTES, BadPicture, Crop, Unusable
from ridedash.face.logo import PICTURE, hashed_name


def make_photo(data: bytes, focus: str) -> dict[str, Crop]:
    """The crops of a file by shape, "wide" and "tall"; each keeps `focus`. Raises BadPicture."""
    if not data:
        raise BadPicture(Unusable.EMPTY)
    if len(data) > MOST_PHOTO_BYTES:
        raise BadPicture(Unusable.TOO_LARGE)
    if not PICTURE.match(data):
        raise BadPicture(Unusable.OTHER_KIND)
    # imported here: no web process needs Pillow until a manager chooses a picture
    from ridedash.face.photo_crops import crops
    from ridedash.face.pictures import PHOTO, read_picture

    made = crops(read_picture(data, PHOTO), focus)
    return {shape: Crop(hashed_name(content, "jpg"), content) for shape, content in made.items()}
