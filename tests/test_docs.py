"""The documents say what is there: files that they name exist, settings that exist are named."""

import dataclasses
import re
from pathlib import Path

import pytest

from ridedash.config import Settings

ROOT = Path(__file__).parent.parent


def test_files_that_the_documents_name_exist() -> None:
    for document in ("README.md", "CONTRIBUTING.md", "docs/assumptions.md", "docs/operating.md"):
        text = (ROOT / document).read_text()
        named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|js|html|md|lock))`", text))
        shared = {
            "design.md",
            "booking-protocol.md",
            "faults.md",
            "security.md",
            "ux.md",
            "performance.md",
            "style.md",
        }
        missing = [
            name
            for name in named
            if name.removeprefix("design/") not in shared and not anywhere(name)
        ]
        assert missing == [], document


def anywhere(name: str) -> bool:
    short = [*(ROOT / "ridedash").rglob(name)] if "/" not in name else []
    return bool(short) or any((base / name).exists() for base in (ROOT, ROOT / "ridedash"))


def test_every_setting_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    names = [f"RIDEDASH_{field.name.upper()}" for field in dataclasses.fields(Settings)]
    assert [name for name in names if name not in text] == []


@pytest.mark.parametrize(
    "document", ["README.md", *sorted(f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md"))]
)
def test_links_and_pictures_of_the_documents_exist(document: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / document).read_text())
    assert targets or document != "README.md"
    assert [target for target in targets if not ((ROOT / document).parent / target).exists()] == []


def test_pre_commit_runs_what_make_check_runs() -> None:
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    commands = [
        line.strip().lstrip("@").replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()
    ]
    entries = re.findall(
        r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE
    )
    assert entries == commands


def test_every_unit_in_the_documents_limits_the_arenas_of_the_heap() -> None:
    units = re.findall(
        r"^\[Service\]\n((?:.+\n)+)", (ROOT / "docs/operating.md").read_text(), re.MULTILINE
    )
    assert len(units) >= 2
    assert [unit for unit in units if "Environment=MALLOC_ARENA_MAX=1\n" not in unit] == []
