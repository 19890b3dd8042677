"""The command `ridedash`, but ids of story runs and references of orders are the same each time.

Only `bench.pixels` starts it, for its pictures: the stage shows references, and the PIN of a
kiosk's ticket, which is derived from the id of the run. These values are predictable, so this file
is not in the package.
"""

import base64
import random
from collections.abc import Sequence
from typing import Final

from ridedash.cli import main
from ridedash.demo.stories import runs
from ridedash.rides.orders import request

SEED: Final = "the same pictures"


class Dice:
    """Stands for the module `secrets` where ids and references are made."""

    def __init__(self) -> None:
        self._dice = random.Random(SEED)

    def token_urlsafe(self, length: int) -> str:
        """See secrets.token_urlsafe."""
        made = base64.urlsafe_b64encode(self._dice.randbytes(length))
        return made.rstrip(b"=").decode()

    def token_hex(self, length: int) -> str:
        """See secrets.token_hex."""
        return self._dice.randbytes(length).hex()

    def choice(self, of: Sequence[str]) -> str:
        """See secrets.choice."""
        return self._dice.choice(of)


if __name__ == "__main__":
    runs.secrets = Dice()  # type: ignore[assignment, attr-defined]
    request.secrets = Dice()  # type: ignore[assignment, attr-defined]
    main()
