"""`ridedash erase`: finds the guest that the command line names, and erases them."""

import argparse

from ridedash.cli.errors import CommandError, no_property
from ridedash.forms.phones import described, reading_of
from ridedash.rides.privacy.erase import ErasedGuest, NotCompacted, StillRiding, erase
from ridedash.services import Services
from ridedash.store import properties
from ridedash.store.models.people import Property


def erase_guest(services: Services, options: argparse.Namespace) -> None:
    """Erase a guest by phone, or by name and room. Raises CommandError."""
    with services.db.read() as s:
        property_ = properties.find_property(s, options.property_name)
        known = [each.name for each in properties.properties(s)]
    if property_ is None:
        raise no_property(options.property_name, known)
    try:
        key = services.settings.secret_key
        guests, rides = erase(services.db, services.clock, key, _guest(options, property_))
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


def _guest(options: argparse.Namespace, property_: Property) -> ErasedGuest:
    if options.room is not None:
        name = options.guest.strip()
        room = options.room.strip()
        return ErasedGuest(property_.id, name=name, room=room)
    found = reading_of(options.guest, property_.country)
    # a number that no country has may have been confirmed
    phone = found.choices[-1] if found.as_typed else found.stored
    if phone is None and found.message:
        known = " / ".join(map(described, found.choices))
        raise CommandError(f"--guest: {found.message} {known} For a name, say --room too.")
    if phone is None:
        raise CommandError("--guest is empty.")
    return ErasedGuest(property_.id, phone=phone)
