"""tests/compiled_shares.py: which process of a run compiles which test file."""

from pathlib import Path

import pytest

from tests.compiled_shares import own


@pytest.mark.parametrize("processes", [1, 3, 4])
def test_each_file_is_in_the_share_of_one_process(processes: int) -> None:
    files = [Path(f"test_{number}.py") for number in range(10)]
    shares = [own(files, number, processes) for number in range(processes)]
    assert sorted(file for share in shares for file in share) == sorted(files)
    lengths = [len(share) for share in shares]
    assert max(lengths) - min(lengths) <= 1
