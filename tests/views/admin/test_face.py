"""A property's logo and colour: set by a manager, shown to guests, and served as safe files."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image

from ridedash.face import Logo
from ridedash.face.logo import make_logo
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.invitations import invite
from ridedash.store.models.people import LogoRow, Property, Staff
from ridedash.views.admin import face
from tests.face.pictures import disc, encoded
from tests.views.admin.test_property import recorded, row
from tests.views.ride_pages import Desk, make_desk, token

pytestmark = pytest.mark.database
SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 30"><script>alert(1)</script>
<rect width="60" height="30" fill="#7a1f3d" onclick="alert(1)"/></svg>"""
RED = Image.new("RGB", (20, 20), "red")
POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def save(client: FlaskClient, logo: bytes | None = None, name: str = "x.png", **form: str) -> Any:
    data: dict[str, Any] = {"csrf_token": token(client), **form}
    if logo is not None:
        data["logo"] = (io.BytesIO(logo), name, "text/plain")
    return client.post("/admin/property/face", data=data)


def ours(desk: Desk) -> Property:
    found: Property = row(desk, Property, desk.ids["desk.property"])
    return found


def invited(desk: Desk) -> str:
    with desk.services.db.write() as s:
        found = invite(s, ours(desk).id, "concierge", "Desk Wren", desk.ids["desk"], desk.now)
        return found[1]


def guest_page(desk: Desk, kind: LinkKind = LinkKind.RIDER) -> str:
    order, staff = desk.order("BOOKED", "CALL_DRIVER"), desk.ids["desk"]
    property_id = desk.ids["desk.property"]
    link = make_link(desk.services.db, desk.now, property_id, order, kind, by_staff(staff))
    return desk.client(signed_in=False).get(f"/t/{link}").text


def test_a_logo_and_a_colour_are_shown_to_guests_and_on_paper(desk: Desk) -> None:
    client = desk.client()
    answer = save(client, disc(60, 30), own_colour="on", colour="#7A1F3D", ground="light")
    assert answer.headers["Location"] == "/admin/property?said=face#face"
    prop = ours(desk)
    assert (prop.colour, prop.logo_width, prop.logo_height) == ("#7a1f3d", 60, 30)
    assert prop.logo is not None
    order = desk.order("BOOKED", "COMPLETED")
    pages = {
        "guest": guest_page(desk),
        "card": client.get(f"/rides/{order}/card").text,
        "receipt": client.get(f"/rides/{order}/receipt").text,
        "settings": client.get("/admin/property").text,
        "invitation": desk.client(signed_in=False).get(f"/invite/{invited(desk)}").text,
        "sign-in": desk.client(signed_in=False).get(f"/sign-in?at={prop.door}").text,
    }
    for name, page in pages.items():
        assert f'src="/face/{prop.logo}"' in page, name
        assert 'href="/face/7a1f3d.css"' in page, name
    assert recorded(desk, "property.changed")[0].facts["changed"] == [
        "colour",
        "logo",
    ]


def test_a_follower_does_not_learn_where_the_guest_stays(desk: Desk) -> None:
    save(desk.client(), disc(60, 30), own_colour="on", colour="#7a1f3d")
    page = guest_page(desk, LinkKind.FOLLOWER)
    assert "/face/" not in page
    assert "Grand Meridian" not in page
    assert "housed" not in page


def test_one_logo_is_drawn_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    others = []

    def drawn(data: bytes) -> Logo:
        others.append(face.drawing.acquire(blocking=False))
        return make_logo(data)

    monkeypatch.setattr(face, "make_logo", drawn)
    save(desk.client(), disc(60, 30))
    save(desk.client(), b"no picture")
    assert others == [False, False]
    assert face.drawing.acquire(blocking=False)
    face.drawing.release()


def test_a_logo_is_refused_while_another_is_read(desk: Desk) -> None:
    client = desk.client()
    with face.drawing:
        answer = save(client, disc(60, 30))
    assert answer.status_code == 422
    assert "Another file is being read. Choose this one again in a moment." in answer.text
    assert ours(desk).logo is None
    assert save(client, disc(60, 30)).status_code == 303


def test_without_a_face_nothing_of_it_is_loaded(desk: Desk) -> None:
    assert "/face/" not in guest_page(desk)
    assert "Grand Meridian Hotel" in guest_page(desk)
    assert "Grand Meridian" not in desk.client(signed_in=False).get("/sign-in").text


def test_logos_are_served_as_pictures_that_can_do_nothing(desk: Desk) -> None:
    client, stranger = desk.client(), desk.client(signed_in=False)
    drawn = Image.new("RGB", (60, 30), "teal")
    pictures = [(encoded(drawn, kind), "image/png") for kind in ("JPEG", "WEBP")]
    for logo, kind in ((disc(60, 30), "image/png"), (SVG, "image/svg+xml"), *pictures):
        save(client, logo, "<b>.html")
        answer = stranger.get(f"/face/{ours(desk).logo}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "Set-Cookie" not in answer.headers
        assert b"alert" not in answer.data
        etag = answer.headers["ETag"]
        assert (
            stranger.get(f"/face/{ours(desk).logo}", headers={"If-None-Match": etag}).status_code
            == 304
        )


def test_adrawing_is_sent_small_to_browsers_that_can_inflate_it(desk: Desk) -> None:
    import gzip

    save(desk.client(), SVG.replace(b"</svg>", b'<path d="M0 0h9"/>' * 200 + b"</svg>"))
    address, stranger = f"/face/{ours(desk).logo}", desk.client(signed_in=False)
    uncompressed = stranger.get(address)
    packed = stranger.get(address, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == uncompressed.data
    assert len(packed.data) * 5 < len(uncompressed.data)
    assert "Accept-Encoding" in uncompressed.headers["Vary"]


def test_the_style_sheet_of_a_colour_is_computed(desk: Desk) -> None:
    stranger = desk.client(signed_in=False)
    answer = stranger.get("/face/ffd60a.css")
    assert answer.mimetype == "text/css"
    assert "--house: #ffd60a; --house-ink: #000000;" in answer.text
    for name in (
        "FFD60A.css",
        "ffd60a",
        "ffd60a.css.css",
        "0" * 64 + ".png",
        "..%2fx",
        "ffd60.css",
    ):
        assert stranger.get(f"/face/{name}").status_code == 404, name


def test_a_new_logo_replaces_the_old_one_and_none_removes_it(desk: Desk) -> None:
    client, stranger = desk.client(), desk.client(signed_in=False)
    save(client, disc(60, 30))
    first = ours(desk).logo
    save(client, disc(64, 64))
    second = ours(desk).logo
    assert first != second
    assert stranger.get(f"/face/{first}").status_code == 404
    assert stranger.get(f"/face/{second}").status_code == 200
    save(client, ground="dark")  # no file: the logo stays
    assert (ours(desk).logo, ours(desk).logo_ground) == (second, "dark")
    save(client, remove_logo="on")
    assert (ours(desk).logo, ours(desk).logo_width) == (None, None)
    assert stranger.get(f"/face/{second}").status_code == 404
    with desk.services.db.read() as s:
        assert s.query(LogoRow).count() == 0


def test_one_logo_of_two_properties_stays_while_one_shows_it(desk: Desk) -> None:
    save(desk.client(), disc(60, 30))
    other = desk.ids["other.property"]
    name = ours(desk).logo
    with desk.services.db.write() as s:
        logo = s.query(LogoRow).one()
        s.add(LogoRow(property_id=other, name=logo.name, content=logo.content))
    save(desk.client(), remove_logo="on")
    assert desk.client(signed_in=False).get(f"/face/{name}").status_code == 200


@pytest.mark.parametrize(
    ("logo", "words"),
    [
        (b"", "The file is empty."),
        (b"hello", "The file is none of PNG, JPEG, WebP and SVG."),
        (b"GIF89a" + bytes(99), "The file is none of PNG, JPEG, WebP and SVG."),
        (b"\xff\xd8\xff\xe0JFIF", "The file can&#39;t be read."),
        (encoded(Image.new("RGB", (20, 20)), save_all=True, append_images=[RED]), "is animated"),
        (encoded(Image.new("RGB", (2000, 1501)), "WEBP"), "3 million pixels at most"),
        (b"<" * 200_001, "The file has more than 200 kB."),
        (disc(17, 16)[:-30], "The file can&#39;t be read."),
        (disc(12, 12), "The picture is too small"),
        (b'<!DOCTYPE svg [<!ENTITY a "a">]>' + SVG, "The file declares entities"),
    ],
)
def test_a_file_that_is_no_logo_is_refused_in_words_and_nothing_is_saved(
    desk: Desk, logo: bytes, words: str
) -> None:
    client = desk.client()
    save(client, disc(60, 30))
    before = ours(desk).logo
    answer = save(client, logo, own_colour="on", colour="#7a1f3d")
    assert answer.status_code == 422
    assert words in answer.text
    assert 'id="logo-error"' in answer.text
    assert (ours(desk).logo, ours(desk).colour) == (before, None)


def test_a_file_above_every_limit_is_refused_whole(desk: Desk) -> None:
    answer = save(desk.client(), b"\x89PNG\r\n\x1a\n" + b"x" * 300_000)
    assert answer.status_code == 413
    assert "choose a smaller file" in answer.text


@pytest.mark.parametrize("colour", ["", "red", "#12", "#7a1f3d;}body{display:none}"])
def test_an_odd_colour_is_refused(desk: Desk, colour: str) -> None:
    answer = save(desk.client(), own_colour="on", colour=colour)
    assert answer.status_code == 422
    assert 'id="colour-error"' in answer.text
    assert ours(desk).colour is None


def test_what_was_left_out_of_adrawing_is_shown_and_no_other_text_can_be(desk: Desk) -> None:
    client = desk.client()
    answer = save(client, SVG)
    assert answer.headers["Location"] == "/admin/property?said=face&left=script#face"
    assert "may not hold (script)" in client.get(answer.headers["Location"]).text
    assert "wicked" not in client.get("/admin/property?said=face&left=wicked").text


def test_a_colour_that_can_not_be_read_is_adjusted_in_words(desk: Desk) -> None:
    client = desk.client()
    save(client, own_colour="on", colour="#ffd60a")
    page = " ".join(client.get("/admin/property").text.split())
    shade = re.search(r"links and buttons use (#[0-9a-f]{6}) in a light window", page)
    assert shade
    assert shade[1] != "#ffd60a"
    assert "#ffd60a itself can't be read everywhere" in page


def test_the_sign_in_page_knows_its_property_by_its_address(
    desk: Desk,
) -> None:
    client, stranger = desk.client(), desk.client(signed_in=False)
    save(client, disc(60, 30))
    door = ours(desk).door
    assert door is not None
    assert "Grand Meridian" not in stranger.get("/sign-in").text  # there are two properties
    assert "Grand Meridian" not in stranger.get("/sign-in?at=x").text
    assert f"/sign-in?at={door}" in client.get("/admin/property").text
    # a refused sign-in keeps the address, and signing out leads back to it
    form = {"csrf_token": token(stranger), "name": "x", "password": "y", "at": door}
    assert "Grand Meridian" in stranger.post("/sign-in", data=form).text
    out = client.post("/sign-out", data={"csrf_token": token(client)})
    assert out.headers["Location"] == f"/sign-in?out=1&at={door}"


def test_a_concierge_changes_no_face(desk: Desk) -> None:
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    assert save(desk.client(), own_colour="on", colour="#7a1f3d").status_code == 403
    assert ours(desk).colour is None
