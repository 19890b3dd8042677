"""Makes hashes of passwords and PINs cheap in the tests' own process, which makes hundreds of them.

A usual hash takes a tenth of a second, by design. Programs that tests start make usual hashes.
"""

from typing import Final

from werkzeug import security

CHEAP: Final = "scrypt:128:8:1"
hash_as_ever: Final = security._hash_internal  # type: ignore[attr-defined]


def begin() -> None:
    """From now on, make all hashes cheap for which the program chooses no cost of its own."""

    def made(method: str, salt: str, password: str) -> tuple[str, str]:
        found: tuple[str, str] = hash_as_ever(
            CHEAP if method == "scrypt" else method, salt, password
        )
        return found

    security._hash_internal = made  # type: ignore[attr-defined]
