"""The data of a new demo: a property, its staff and kiosks, an account for each sandbox user."""

from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from ridedash.cli import demo_kiosks
from ridedash.cli.errors import CommandError
from ridedash.extensions import Services
from ridedash.fits import Capacity
from ridedash.sandbox import SANDBOX_USERS, mint_token
from ridedash.sandbox.city.city import Place, cities
from ridedash.secrets_file import demo_secrets
from ridedash.store import accounts, capacities, demo_marks, passwords, properties
from ridedash.store.models.people import Property, Staff

HOTEL = "grand-meridian-hotel"
# what fits into the cars of the hotel's city; of a rental it depends on the package, and is unknown
FITS = {
    "mini": ("Mini", Capacity(4, 2)),
    "prime": ("Prime", Capacity(4, 3)),
    "suv": ("Prime SUV", Capacity(6, 4)),
    "auto": ("Auto", Capacity(3, 1)),
}
SIGN_IN_NAME = "desk"


def seed(services: Services) -> None:
    """Create the demo's property, staff, linked accounts and kiosks, once for each database."""
    with services.db.write() as session:
        known = properties.find_staff(session, SIGN_IN_NAME)
        if known is not None:  # add what an earlier release did not write: the mark, the kiosks
            _mark_earlier(session, known, services.clock())
            demo_kiosks.seed(session, known.property_id, services.clock())
    _refuse_others(services)
    if known is not None:
        _require_secrets(services, known.property_id)
        return
    hashed = passwords.hashed(sign_in(services.settings.instance)[1])
    tokens = [
        (user, mint_token(services.settings.instance / "sandbox.db", user.id))
        for user in SANDBOX_USERS
    ]
    city = cities()[0]
    hotel = _hotel()
    now = services.clock()
    with services.db.write() as session:
        property_ = properties.add_property(
            session,
            hotel.name,
            city.timezone,
            now,
            country="IN",
            currency=city.currency,
            pickup_name=hotel.name,
            pickup_lat=hotel.position.lat,
            pickup_lng=hotel.position.lng,
        )
        staff = properties.add_staff(session, property_.id, "Front desk", hashed, "manager", now)
        staff.sign_in_name = SIGN_IN_NAME
        for user, token in tokens:
            label = user.label
            row = accounts.add_account(session, services.vault, property_.id, label, token, now)
            if user.id == "house":
                accounts.make_default(session, row)
        _say_what_fits(session, property_.id)
        demo_kiosks.seed(session, property_.id, now)
        wanted = services.settings.demo_starts == "day"
        demo_marks.mark(session, now, demo_marks.WANTED if wanted else demo_marks.NONE)


def _say_what_fits(s: Session, property_id: int) -> None:
    names = {category: name for category, (name, _fits) in FITS.items()}
    fits = {category: fits for category, (_name, fits) in FITS.items()}
    capacities.set_capacities(s, property_id, names, fits)


def _mark_earlier(s: Session, staff: Staff, now: datetime) -> None:
    """Mark a demo of a release that wrote no marks. Only a demo has this invented hotel."""
    hotel = _hotel()
    home = s.get_one(Property, staff.property_id)
    seeded = (home.name, home.timezone) == (hotel.name, cities()[0].timezone)
    if demo_marks.mark_of(s) is None and seeded:
        demo_marks.mark(s, now, demo_marks.NONE)


def _refuse_others(services: Services) -> None:
    try:
        with services.db.read() as s:
            demo_marks.refuse_in_demo_mode(s)
    except demo_marks.WrongMode as error:
        raise CommandError(str(error)) from None


def _require_secrets(services: Services, property_id: int) -> None:
    """Refuse a demo whose secrets were lost: it could not book, and its password would be wrong."""
    with services.db.read() as s:
        stored = [row for row in accounts.accounts_of(s, property_id) if row.access_token_enc]
    if not stored or any(accounts.tokens_can_be_read(row, services.vault) for row in stored):
        return
    path = services.settings.instance / "secrets.json"
    raise CommandError(
        f"the secrets of this demo are lost: {path} is not the file that its database was made "
        "with. Bring that one back, or begin anew: an empty folder for RIDEDASH_INSTANCE, and "
        "another RIDEDASH_DATABASE_URL if you have set one."
    )


def _hotel() -> Place:
    return next(place for place in cities()[0].places if place.id == HOTEL)


def sign_in(instance: Path) -> tuple[str, str]:
    """Sign-in name and password of the demo; the password was created at the first start."""
    return SIGN_IN_NAME, demo_secrets(instance)["staff_password"]
