"""The error that commands raise on purpose, and the one for a property that does not exist."""

import difflib
from collections.abc import Iterable


class CommandError(Exception):
    """Why a command can't be run, in one sentence for the person at the keyboard."""


def no_property(name: str, known: Iterable[str], advice: str = "") -> CommandError:
    """The error for a name that no property has; it suggests the closest name."""
    by_key = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), by_key, n=1)
    meant = f" Did you mean {by_key[near[0]]!r}?" if near else ""
    return CommandError(f"no property {name!r}.{meant}{' ' if advice else ''}{advice}")
