"""Grown streets are kept in files, and only what this code has written there is read."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ridedash.sandbox.city import kept_streets
from ridedash.sandbox.city.city import cities
from ridedash.sandbox.city.kept_streets import kept
from ridedash.sandbox.city.mesh import Edge, Mesh

SMALL = Mesh(
    [(0.1 + 0.2, -1e-17), (5.0, 6.0)], [Edge(0, 1, [(0.1 + 0.2, -1e-17), (5.0, 6.0)], "Quay ł", 2)]
)
OTHER = Mesh([(1.0, 1.0)], [])


def _grown() -> Mesh:
    raise AssertionError("the streets are grown again")


def test_streets_are_grown_once_and_then_read(tmp_path: Path) -> None:
    folder = tmp_path / "instance" / "streets"
    assert kept(folder, "bay", lambda: SMALL) is SMALL
    assert kept(folder, "bay", _grown) == SMALL
    assert kept(folder, "hill", lambda: OTHER) == OTHER


@pytest.mark.parametrize("city", ["port-meridian", "saltmere"], indirect=True)
def test_the_streets_of_a_city_are_read_as_they_have_grown(city, tmp_path: Path) -> None:
    mesh = city.roads.mesh
    kept(tmp_path, city.slug, lambda: mesh)
    assert kept(tmp_path, city.slug, _grown) == mesh


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut by a byte": lambda text: text[:-1],
    "cut in half": lambda text: text[: len(text) // 2],
    "another digit": lambda text: text.replace(b"5.0", b"7.0"),
    "of something else": lambda _: b"\x80\n[[],[]]",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_anew(damage: str, tmp_path: Path) -> None:
    kept(tmp_path, "hill", lambda: SMALL)
    path = tmp_path / "hill.json"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert kept(tmp_path, "hill", lambda: OTHER) == OTHER
    assert kept(tmp_path, "hill", _grown) == OTHER


def test_a_file_of_other_code_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path, "bay", lambda: OTHER)
    changed = tmp_path / "code"
    changed.mkdir()
    (changed / "streets.py").write_text("OVERSHOOT_M = 3.0\n")
    monkeypatch.setattr(kept_streets, "SOURCES", changed)
    kept_streets._code.cache_clear()
    try:
        assert kept(tmp_path, "bay", lambda: SMALL) == SMALL
    finally:
        kept_streets._code.cache_clear()


def test_the_code_is_that_of_the_growth_and_of_the_plans() -> None:
    folder = kept_streets.SOURCES
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    assert {"streets.py", "mesh.py", "grid.py", "geometry.py", "kept_streets.py"} <= names
    assert {"data/port_meridian.py", "data/saltmere.py", "data/names.py"} <= names


def test_a_file_is_for_its_owner_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "streets"
    kept(folder, "bay", lambda: SMALL)
    assert os.listdir(folder) == ["bay.json"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "bay.json").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_can_not_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "streets").write_text("a file where the folder would be")
    assert kept(tmp_path / "streets", "bay", lambda: SMALL) is SMALL


def test_a_disk_that_is_full_leaves_the_older_file(tmp_path: Path) -> None:
    """Nor does it leave the part that had room."""
    kept(tmp_path, "bay", lambda: SMALL)
    path = tmp_path / "bay.json"
    path.write_bytes(b"older")
    script = (
        "import resource; from pathlib import Path;"
        "from ridedash.sandbox.city.kept_streets import kept;"
        "from ridedash.sandbox.city.mesh import Mesh; import signal;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        f"kept(Path({str(tmp_path)!r}), 'bay', lambda: Mesh([(0.0, 0.0)] * 1000, []))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["bay.json"]


def test_a_start_reads_what_an_earlier_one_has_kept(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from ridedash.sandbox.city import city;"
        "city.keep_streets(Path(sys.argv[1]));"
        "grown = city.grow; grows = [];"
        "city.grow = lambda plan: grows.append(plan.slug) or grown(plan);"
        "streets = [len(each.roads.mesh.edges) for each in city.cities()];"
        "import json; print(json.dumps([grows, streets]))"
    )
    run = [sys.executable, "-c", script, str(tmp_path)]
    first, second = (
        json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
        for _ in range(2)
    )
    streets = [len(city.roads.mesh.edges) for city in cities()]
    assert first == [["port-meridian", "saltmere"], streets]
    assert second == [[], streets]
