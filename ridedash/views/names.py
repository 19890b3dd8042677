"""How much of a name is told to whom. Pure."""

from typing import Final

from ridedash.wording import gettext as _

TITLES: Final = frozenset(
    {"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "madam", "lady", "shri", "smt", "captain"}
)
CALL_SIGNS: Final = frozenset({"driver", "guest", "rider"})  # "Driver Cedar" is one name


def first_name(name: str | None) -> str:
    """The first name; "" when only a title and a family name are known. A call sign stays whole."""
    words = (name or "").split()
    titled = bool(words) and words[0].rstrip(".").casefold() in TITLES
    words = words[1:] if titled else words
    if not words or (titled and len(words) == 1):
        return ""
    if words[0].casefold() in CALL_SIGNS:
        return " ".join(words[:2])
    return words[0].rstrip(",")


def driver_words(name: str | None) -> str:
    """The driver by first name, so that nobody asks who that is; "" when unknown."""
    known = first_name(name)
    return known if not known or known.casefold().startswith("driver ") else _("Driver %(name)s", name=known)
