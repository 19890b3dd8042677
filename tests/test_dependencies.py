"""Imported libraries are declared, declared ones are used, and source packages are complete."""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FIRST_PARTY = {"ridedash", "tests", "bench", "tools"}
NOT_IMPORTED = {  # the reason for each declared library that no module imports
    "tzdata": "zoneinfo reads its files where the system has none",
    "django-js-lib-leaflet": "Leaflet's files are served from it (its package is a Django app)",
    "granian": "a server, started by its own command",
    "redis": "loaded by limits for redis:// addresses",
}


def imported(folders: Iterable[str]) -> set[str]:
    """The distributions that the files of these folders import, also for the type checker alone."""
    known = importlib.metadata.packages_distributions()
    modules: set[str] = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules.add(str(node.module).partition(".")[0])
    foreign = modules - set(sys.stdlib_module_names) - FIRST_PARTY - {"_typeshed"}
    return {
        str(canonicalize_name(known[module][0])) if module in known else module
        for module in foreign
    }


def names(requirements: Iterable[str]) -> set[str]:
    return {str(canonicalize_name(Requirement(requirement).name)) for requirement in requirements}


RUNTIME = names(PROJECT["project"]["dependencies"])
EXTRAS = names(
    requirement
    for extra in PROJECT["project"]["optional-dependencies"].values()
    for requirement in extra
)
GROUPS = names(
    requirement for group in PROJECT["dependency-groups"].values() for requirement in group
)


def test_every_library_that_the_program_imports_is_declared() -> None:
    assert imported(["ridedash"]) - RUNTIME - EXTRAS == set()


def test_every_library_that_is_declared_is_imported_or_has_a_reason() -> None:
    assert (RUNTIME | EXTRAS) - imported(["ridedash"]) == set(NOT_IMPORTED)


def test_every_library_that_tests_and_tools_import_is_declared() -> None:
    assert imported(["tests", "bench", "tools"]) - RUNTIME - EXTRAS - GROUPS == set()


LOCKS = ("requirements.lock", "requirements-production.lock", "requirements-dev.lock")


@pytest.mark.parametrize("lock", LOCKS)
def test_each_lock_holds_a_pip_and_setuptools_without_known_weaknesses(lock: str) -> None:
    pinned = dict(re.findall(r"^([a-z0-9.-]+)==([0-9.]+)", (ROOT / lock).read_text(), re.MULTILINE))
    for name, least in (("pip", 25), ("setuptools", 80)):
        assert int(pinned[name].split(".")[0]) >= least, name


def test_the_set_up_environment_has_the_pip_of_the_lock() -> None:
    assert (
        f"\npip=={importlib.metadata.version('pip')} "
        in (ROOT / "requirements-dev.lock").read_text()
    )


def test_a_source_package_has_every_file_of_the_repository(tmp_path: Path) -> None:
    """`make run` and `make test` work from the package, as from a checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    steps = {"tools/setup.sh", "tools/set_up.py", "tools/test.sh", "requirements-uv.lock"}
    assert {"Makefile", "app.py", *steps, *LOCKS} <= packed
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        listed = subprocess.run(
            [git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        there = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
        assert there - packed == set()
