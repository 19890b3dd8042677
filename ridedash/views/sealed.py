"""Words that name a person, sealed for an address: no browser's history, bookmark or log of a proxy tells them.

A page of rides that was asked for by POST would ask "send the form again?" whenever somebody came back to it; an
address that holds the sealed words can be come back to, reloaded and leafed through (security.md 14.2.1).
"""

from ridedash.ext import services
from ridedash.store.crypto import Sealed
from ridedash.views.auth import current_sign_in


def seal(what: str, words: str) -> str:
    """The words as an address may hold them, readable to this program alone, and only while this sign-in holds."""
    return services().vault.encrypt(words, "addresses", current_sign_in().sign_in, what)


def opened(what: str, text: str) -> str | None:
    """The words again; None for what was not sealed here: typed by hand, changed, or of another sign-in."""
    try:
        return services().vault.decrypt(text, "addresses", current_sign_in().sign_in, what)
    except Sealed:
        return None
