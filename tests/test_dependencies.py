"""Imported libraries are declared in pyproject.toml, and declared ones are used."""

import ast
import importlib.metadata
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FIRST_PARTY = {"ridedash", "tests", "bench", "tools"}
NOT_IMPORTED = {  # the reason for each declared library that no module imports
    "jinja2": "renders the templates for Flask; declared for the fixes of its least version",
    "tzdata": "zoneinfo reads its files where the system has none",
    "django-js-lib-leaflet": "Leaflet's files are served from it (its package is a Django app)",
    "granian": "a server, started by its own command",
    "gunicorn": "a server, started by its own command",
    "psycopg": "loaded by SQLAlchemy for postgresql+psycopg:// addresses",
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


def names(wishes: Iterable[str]) -> set[str]:
    return {str(canonicalize_name(Requirement(wish).name)) for wish in wishes}


RUNTIME = names(PROJECT["project"]["dependencies"])
EXTRAS = names(
    wish for extra in PROJECT["project"]["optional-dependencies"].values() for wish in extra
)
GROUPS = names(wish for group in PROJECT["dependency-groups"].values() for wish in group)


def test_every_library_that_the_program_imports_is_declared() -> None:
    assert imported(["ridedash"]) - RUNTIME - EXTRAS == set()


def test_every_library_that_is_declared_is_imported_or_has_a_reason() -> None:
    assert (RUNTIME | EXTRAS) - imported(["ridedash"]) == set(NOT_IMPORTED)


def test_every_library_that_tests_and_tools_import_is_declared() -> None:
    assert imported(["tests", "bench", "tools"]) - RUNTIME - EXTRAS - GROUPS == set()
