"""The data of a new demo: a property, a member of staff, and an account for each sandbox user."""

from pathlib import Path

from ridedash.cli import demo_kiosks
from ridedash.extensions import Services
from ridedash.sandbox import SANDBOX_USERS, mint_token
from ridedash.sandbox.city.city import cities
from ridedash.secrets_file import demo_secrets
from ridedash.store import accounts, passwords, properties

HOTEL = "grand-meridian-hotel"
SIGN_IN_NAME = "desk"


def seed(services: Services) -> None:
    """Create the demo's property, staff, linked accounts and kiosks, once for each database."""
    with services.db.read() as session:
        known = properties.find_staff(session, SIGN_IN_NAME)
    if known is not None:
        with services.db.write() as session:  # a demo of an earlier release has no kiosks yet
            demo_kiosks.seed(session, known.property_id, services.clock())
        return
    password = sign_in(services.settings.instance)[1]
    tokens = [
        (user, mint_token(services.settings.instance / "sandbox.db", user.id))
        for user in SANDBOX_USERS
    ]
    city = cities()[0]
    hotel = next(place for place in city.places if place.id == HOTEL)
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
        hashed = passwords.hashed(password)
        staff = properties.add_staff(session, property_.id, "Front desk", hashed, "manager", now)
        staff.sign_in_name = SIGN_IN_NAME
        for user, token in tokens:
            row = accounts.add_account(
                session, services.vault, property_.id, user.label, token, now
            )
            if user.id == "house":
                accounts.make_default(session, row)
        demo_kiosks.seed(session, property_.id, now)


def sign_in(instance: Path) -> tuple[str, str]:
    """Sign-in name and password of the demo; the password was created at the first start."""
    return SIGN_IN_NAME, demo_secrets(instance)["staff_password"]
