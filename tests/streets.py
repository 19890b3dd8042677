"""The streets of the sandbox's cities, for tests whose client calls a sandbox in this process.

They grow at the first call that needs them, which takes longer on a busy machine than a client
waits for an answer. The processes of a test run share what one of them has grown.
"""

import functools
import os
from pathlib import Path

from ridedash.sandbox.city.city import cities, keep_streets


@functools.cache
def grow() -> None:
    """Have the streets of both cities in this process."""
    keep_streets(Path(os.environ["RIDEDASH_TEST_TEMPLATES"]))
    for city in cities():
        assert city.roads.mesh.edges
