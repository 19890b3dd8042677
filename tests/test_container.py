"""The demo's container image: tests can't build it, so they check lines of the Containerfile."""

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ridedash import cli, config

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINES = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(
        r"^#.*\n", "", (ROOT / "Containerfile").read_text().replace("\\\n", ""), flags=re.MULTILINE
    ).splitlines()
]
IGNORED = (ROOT / ".containerignore").read_text().split()


def argument_of(instruction: str) -> str:
    """The text after an instruction that occurs once."""
    [(_name, rest)] = [line for line in LINES if line[0] == instruction]
    return rest


def test_what_is_installed_is_copied_and_locked() -> None:
    assert argument_of("COPY") == ". /src"
    run, locks = argument_of("RUN"), re.findall(r"-r /src/(\S+)", argument_of("RUN"))
    needed = [
        *locks,
        "pyproject.toml",
        *PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"],
    ]
    assert not [each for each in needed if any(fnmatch(each, pattern) for pattern in IGNORED)]
    assert "--require-hashes" in run
    assert "--no-deps --no-build-isolation /src" in run
    pinned = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / locks[0]).read_text(), re.MULTILINE))
    builds = PROJECT["build-system"]["requires"]  # needed by the build, which fetches nothing
    assert {str(canonicalize_name(Requirement(each).name)) for each in builds} <= pinned
    version = re.fullmatch(r"docker.io/library/python:([0-9.]+)-slim", argument_of("FROM"))
    assert version
    assert version[1] in SpecifierSet(PROJECT["project"]["requires-python"])


def test_it_runs_as_a_user_of_its_own_at_home() -> None:
    home = re.search(
        rf"useradd --home-dir (\S+) --create-home {argument_of('USER')}\b", argument_of("RUN")
    )
    assert home
    assert argument_of("WORKDIR") == home[1]
    instance = dict(each.split("=") for each in argument_of("ENV").split())["RIDEDASH_INSTANCE"]
    assert Path(instance).parent == Path(home[1])  # so the user may create the folder


def test_it_starts_the_stage_on_the_port_that_it_opens(tmp_path: Path) -> None:
    given = dict(each.split("=") for each in argument_of("ENV").split())
    settings = config.load(given | {"RIDEDASH_INSTANCE": str(tmp_path)})
    assert settings.host == "0.0.0.0"
    assert settings.port == int(argument_of("EXPOSE"))
    assert f"'{settings.public_url}/healthz'" in argument_of("HEALTHCHECK")
    assert "GET /healthz health.alive" in (ROOT / "tests/test_guard.py").read_text()
    command, *options = json.loads(argument_of("CMD"))
    assert Path(command).name in PROJECT["project"]["scripts"]
    assert cli._parser().parse_args(options).demo_stage
    made = re.search(r"python -m venv (\S+)", argument_of("RUN"))
    assert made
    assert Path(command).parent == Path(made[1]) / "bin"
