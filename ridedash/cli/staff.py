"""`ridedash staff`: adds people, lists them, and changes what they can do.

It is the way back into a house where nobody can: one manager who has lost the password. Each change
is in the audit log, as the command line's.
"""

import argparse
import difflib
import getpass
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Final
from zoneinfo import available_timezones

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.cli.errors import CommandError, no_property
from ridedash.services import Services
from ridedash.store import audit, passwords, properties, staff_names
from ridedash.store.actors import CLI
from ridedash.store.invitations import end_password_links, invite_to_new_password
from ridedash.store.models.people import Property, Staff
from ridedash.store.sign_in_tries import forget_name
from ridedash.store.sign_ins import close_all_sign_ins, sign_in_keys
from ridedash.store.staff_names import BadName, Why
from ridedash.text import one_line

MANAGING: Final = ("manager", "admin")


def run(services: Services, options: argparse.Namespace) -> None:
    """Run the action that the command line names. Raises CommandError."""
    _ACTIONS[options.action](services, options)


def from_stdin(what: str) -> str:
    """One line of standard input; typed unseen at a terminal. Raises CommandError for none."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    try:
        return getpass.getpass(f"Type the {what} (it is not shown) and press Enter: ")
    except (EOFError, KeyboardInterrupt):
        raise CommandError("nothing was typed, nothing was changed.") from None


def _list(services: Services, options: argparse.Namespace) -> None:
    """Print a line for each person: name, role, property, and whether they can sign in."""
    now = services.clock()
    lines = []
    with services.db.read() as s:
        homes = properties.properties(s)
        if options.property_name is not None:
            homes = [_home(s, options.property_name)]
        for home in homes:
            people = properties.staff_of(s, home.id)
            counts = properties.sign_ins_of(s, [each.id for each in people], now)
            lines += [_line(each, home, counts.get(each.id, 0)) for each in people]
    if not lines:
        print("Nobody can sign in yet: `ridedash staff add` adds the first.")
        return
    widths = [max(len(line[n]) for line in lines) for n in range(3)]
    for line in lines:
        print(*(part.ljust(width) for part, width in zip(line, widths, strict=False)), line[3])


def _line(person: Staff, home: Property, count: int) -> tuple[str, str, str, str]:
    name = one_line(person.name)
    state = f"signed in: {count}" if count else "can sign in"
    if person.sign_in_name not in sign_in_keys(person.name):
        name += f" (signs in as {one_line(person.sign_in_name)})"
    if person.disabled_at is not None:
        state = f"disabled since {person.disabled_at:%Y-%m-%d}"
    return name, person.role, one_line(home.name), state


def _add(services: Services, options: argparse.Namespace) -> None:
    name = _name(options.name)
    home = one_line(options.property_name)
    if not home:
        raise CommandError("--property is empty: type the name of the property.")
    password = from_stdin("password")
    _require_strong(password, home, name)
    if options.timezone not in available_timezones():
        raise CommandError(f"no time zone {options.timezone!r}; use a name such as Asia/Kolkata.")
    now = services.clock()
    hashed = passwords.hashed(password)
    with services.db.write() as s:
        property_ = _property_of_staff(s, options, home, now)
        _require_free(s, property_.id, name)
        staff = properties.add_staff(s, property_.id, name, hashed, options.role, now)
        _record(s, staff, "staff.added", now, role=options.role)
    print(f"{name} can sign in to {home}.")


def _password(services: Services, options: argparse.Namespace) -> None:
    """Set a person's password, or print a link by which they set it themselves."""
    now = services.clock()
    with services.db.read() as s:
        person = _person(s, options.name)
        home = s.get_one(Property, person.property_id).name
    if options.link:
        _print_link(services, options, now)
        return
    password = from_stdin("new password")
    _require_strong(password, home, person.name, person.sign_in_name)
    hashed = passwords.hashed(password)
    with services.db.write() as s:
        person = _person(s, options.name)
        person.password_hash = hashed
        close_all_sign_ins(s, person.id)
        end_password_links(s, person.id, now)
        forget_name(s, person.sign_in_name)
        _record(s, person, "password.set", now)
    print(f"{one_line(person.name)} has a new password, and is signed out everywhere.")
    if person.disabled_at is not None:
        print("They are disabled: `ridedash staff enable` lets them sign in again.")


def _print_link(services: Services, options: argparse.Namespace, now: datetime) -> None:
    with services.db.write() as s:
        person = _person(s, options.name)
        if person.disabled_at is not None:
            raise CommandError(f"{person.name!r} is disabled: enable them first.")
        row, secret = invite_to_new_password(s, person, None, now)
        facts = {"property_id": person.property_id, "staff": person.id}
        audit.record(s, CLI, "invitation.made", f"invitations:{row.id}", "ok", now, **facts)
    print(f"{services.settings.public_url}/invite/{secret}")
    print("It sets a new password for whoever opens it: once, within 24 hours.")


def _disable(services: Services, options: argparse.Namespace) -> None:
    with services.db.write() as s:
        person = _person(s, options.name)
        now = services.clock()
        if person.disabled_at is not None:
            raise CommandError(f"{person.name!r} is disabled already.")
        person.disabled_at = now
        _record(s, person, "staff.disabled", now)
        warning = _nobody_manages(s, person)
    print(f"{one_line(person.name)} can't sign in any more, and is signed out everywhere.")
    _warn(warning)


def _enable(services: Services, options: argparse.Namespace) -> None:
    with services.db.write() as s:
        person = _person(s, options.name)
        now = services.clock()
        if person.disabled_at is None:
            raise CommandError(f"{person.name!r} can sign in already.")
        person.disabled_at = None
        _record(s, person, "staff.enabled", now)
    print(f"{one_line(person.name)} can sign in again, with the same password.")


def _change_role(services: Services, options: argparse.Namespace) -> None:
    """Give a person the next of the roles, up or down, or the one that the command line names."""
    order: tuple[str, ...] = options.roles
    with services.db.write() as s:
        person = _person(s, options.name)
        now = services.clock()
        was = person.role
        further = order[order.index(person.role) + 1 :]
        if not further:
            raise CommandError(f"{person.name!r} is {_a(was)} already.")
        role = options.to or further[0]
        if role not in further:
            raise CommandError(
                f"{person.name!r} is {_a(was)}; `staff {options.action}` makes them "
                f"{' or '.join(map(_a, further))}."
            )
        person.role = role
        _record(s, person, "staff.role", now, was=was, role=role)
        warning = _nobody_manages(s, person)
    print(f"{one_line(person.name)} is {_a(role)} now, no longer {_a(was)}; they sign in anew.")
    _warn(warning)


def _a(role: str) -> str:
    return f"an {role}" if role == "admin" else f"a {role}"


def _nobody_manages(s: Session, person: Staff) -> str:
    """A warning if this person was the last who manages their property; else ""."""
    if person.disabled_at is None and person.role in MANAGING:
        return ""
    s.flush()
    managers = select(Staff.id).where(Staff.disabled_at.is_(None), Staff.role.in_(MANAGING))
    at_home = Staff.property_id == person.property_id
    if s.scalars(managers.where(at_home | (Staff.role == "admin")).limit(1)).first() is not None:
        return ""
    home = one_line(s.get_one(Property, person.property_id).name)
    return (
        f"nobody manages {home} any more: that was its last manager. No one there can invite "
        "colleagues, link accounts or change settings. `ridedash staff promote`, `staff enable` "
        "and `staff add --role manager` give it one."
    )


def _warn(warning: str) -> None:
    if warning:
        print(f"ridedash: warning: {warning}", file=sys.stderr)


def _person(s: Session, name: str) -> Staff:
    """The person who signs in with this name, disabled or not. Raises CommandError."""
    found = properties.anybody(s, name)
    if found is not None:
        return found
    names = {each.casefold(): each for each in s.scalars(select(Staff.name))}
    near = difflib.get_close_matches(name.casefold(), names, n=1)
    meant = f" Did you mean {names[near[0]]!r}?" if near else ""
    raise CommandError(f"nobody signs in as {name!r}.{meant} `ridedash staff list` names all.")


def _record(s: Session, person: Staff, what: str, now: datetime, **facts: str) -> None:
    subject = f"staff:{person.id}"
    home = {"property_id": person.property_id}
    audit.record(s, CLI, what, subject, "ok", now, **(facts | home))


def _name(typed: str) -> str:
    """The cleaned name of a new person. Raises CommandError for one that is too long."""
    if len(" ".join(typed.split())) > staff_names.LONGEST:
        raise CommandError(f"--name: at most {staff_names.LONGEST} characters.")
    return staff_names.cleaned(typed)


def _require_free(s: Session, property_id: int, name: str) -> None:
    bad = staff_names.wrong_with(s, property_id, name)
    if bad is None:
        return
    if bad.why is Why.TAKEN and properties.find_staff(s, name) is None:
        raise CommandError(
            f"{name!r} is the name of somebody who is disabled: enable them with `ridedash staff "
            "enable` or under Settings, Staff, or choose another name."
        )
    raise CommandError(_error(name, bad))


def _error(name: str, bad: BadName) -> str:
    return {
        Why.EMPTY: "--name is empty: type a name of letters or digits.",
        Why.MIXED: f"--name: one word of {name!r} has letters of several alphabets.",
        Why.TAKEN: f"somebody already signs in as {name!r}.",
        Why.ALIKE: f"--name: {name!r} looks like {bad.colleague!r}; choose another.",
    }[bad.why]


def _home(s: Session, name: str) -> Property:
    found = properties.find_property(s, name)
    if found is None:
        raise no_property(name, [each.name for each in properties.properties(s)])
    return found


def _property_of_staff(
    s: Session, options: argparse.Namespace, name: str, now: datetime
) -> Property:
    """The property that the command names.

    A new one is made only with --new-property: a name that is not found may be misspelt.
    """
    known = [each.name for each in properties.properties(s)]
    found = properties.find_property(s, name)
    if options.new_property:
        same = [each for each in known if each.casefold() == name.casefold()]
        if same:
            raise CommandError(f"there is a property {same[0]!r}; leave --new-property out.")
        return _new_property(s, options, name, now)
    if found is None:
        raise no_property(name, known, "With --new-property it is made.")
    return found


def _new_property(s: Session, options: argparse.Namespace, name: str, now: datetime) -> Property:
    country = _country(options.country)
    made = properties.add_property(s, name, options.timezone, now, country=country)
    audit.record(s, CLI, "property.made", f"properties:{made.id}", "ok", now, property_id=made.id)
    return made


def _country(typed: str | None) -> str | None:
    """A country's two letters in capitals; None if none were typed.

    Raises CommandError for letters that no country has.
    """
    from ridedash.forms.phones import (
        COUNTRIES,  # imported here: it loads the rules of phone numbers
    )

    if typed is None:
        return None
    if typed.upper() not in COUNTRIES:
        raise CommandError(f"no country {typed!r}; use two letters such as IN.")
    return typed.upper()


def _require_strong(password: str, *names: str) -> None:
    weak = passwords.weakness(password, names)
    if weak == "common":
        raise CommandError(
            "a guessing program finds that password quickly; four words that don't belong "
            "together make a good one."
        )
    if weak:
        raise CommandError(
            f"the password needs {passwords.SHORTEST} to {passwords.LONGEST} characters."
        )


_ACTIONS: Final[dict[str, Callable[[Services, argparse.Namespace], None]]] = {
    "add": _add,
    "list": _list,
    "password": _password,
    "disable": _disable,
    "enable": _enable,
    "promote": _change_role,
    "demote": _change_role,
}
