"""The command `ridedash`, but the runs of stories have the same ids each time.

Only `bench.pixels` starts it, for its pictures: the PIN of a kiosk's ticket is made of the id of
the run, and is shown on the stage. Whoever reads this file can guess these ids, so it is no part of
the package.
"""

import base64
import random
from typing import Final

from ridedash.cli import main
from ridedash.demo.stories import runs

SEED: Final = "the same pictures"


class Dice:
    """Stands for the module `secrets` where ids of stories are made."""

    def __init__(self) -> None:
        self._dice = random.Random(SEED)

    def token_urlsafe(self, length: int) -> str:
        """See secrets.token_urlsafe."""
        made = base64.urlsafe_b64encode(self._dice.randbytes(length))
        return made.rstrip(b"=").decode()


if __name__ == "__main__":
    runs.secrets = Dice()  # type: ignore[assignment, attr-defined]
    main()
