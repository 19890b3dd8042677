"""`ridedash erase`: which guest to erase, from the command line."""

import argparse

from ridedash.cli.errors import CommandError
from ridedash.forms import PhoneError, read_phone
from ridedash.rides.privacy.erase import NotCompacted, StillRiding, erase
from ridedash.services import Services
from ridedash.store import properties
from ridedash.store.models.people import Property


def erase_guest(services: Services, options: argparse.Namespace) -> None:
    """Erase a guest by phone, or by name and room. Raises CommandError."""
    with services.db.read() as s:
        property_ = properties.find_property(s, options.property_name)
    if property_ is None:
        raise CommandError(f"no property {options.property_name!r}.")
    who = _who(options, property_)
    try:
        guests, rides = erase(
            services.db, services.clock, services.settings.secret_key, property_.id, **who
        )
    except StillRiding:
        raise CommandError(
            "this guest has a ride that is waiting or under way. Nothing was erased."
        ) from None
    except NotCompacted:
        raise CommandError(
            "erased, but others use the database's file just now. Run the same command again."
        ) from None
    if not guests:
        raise CommandError("no guest of that property was found by this. Nothing was erased.")
    print(f"Erased: {guests} guest records; {rides} rides keep their figures.")


def _who(options: argparse.Namespace, property_: Property) -> dict[str, str | None]:
    if options.room is not None:
        return {"name": options.guest.strip(), "room": options.room.strip()}
    try:
        phone = read_phone(options.guest, property_.country)
    except PhoneError as error:
        raise CommandError(f"--guest: {error} For a name, say --room too.") from None
    if phone is None:
        raise CommandError("--guest is empty.")
    return {"phone": phone}
