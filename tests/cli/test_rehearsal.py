"""The section of docs/operating.md about rehearsals, carried out as it is written."""

import contextlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.processes.fleet import free_port, get
from tests.running import clean_environment

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"
BASE64 = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
OPENSSL = f'openssl() {{ [ "$2" = -hex ] && echo 0f3a77c1d2e4b596 || echo {BASE64}; }}\n'
NEW_PASSWORD = "seven grey herons by the quay\n"


def commands(web: int, service: int) -> list[str]:
    """The lines of the section, with other ports."""
    section = PAGE.read_text().split("## Rehearse\n")[1].split("\n## ")[0]
    block = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0]
    assert block.count("8000") == block.count("8001") == 1, "the ports stand in one line"
    return block.replace("web=8000 service=8001", f"web={web} service={service}").splitlines()


def written(folder: Path, lines: list[str]) -> dict[str, dict[str, str]]:
    """The settings that these lines write to two files, by the name of the file."""
    before = [line for line in lines if not line.startswith("run ")]
    script = OPENSSL + "\n".join(before)
    subprocess.run(["bash", "-euc", script], cwd=folder, check=True, timeout=60)
    files = sorted(folder.glob("*.env"))
    assert all(each.stat().st_mode & 0o077 == 0 for each in files)
    return {
        each.stem: dict(word.split("=", 1) for word in shlex.split(each.read_text()))
        for each in files
    }


class Rehearsal:
    """Runs commands of ridedash as the section says: `run NAME WORDS…`."""

    def __init__(self, folder: Path, web: int, service: int) -> None:
        self.folder = folder
        self.lines = commands(web, service)
        self.settings = written(folder, self.lines)

    def words(self, start: str) -> tuple[str, list[str]]:
        """Name and words of the line that begins with `run` and this start."""
        (line,) = [each for each in self.lines if each.startswith(f"run {start}")]
        _run, name, *words = shlex.split(line.partition(" &")[0], comments=True)
        return name, words

    def done(self, name: str, words: list[str], given: str = "") -> str:
        """Run a command until it ends. Its output."""
        return subprocess.run(
            [sys.executable, "-m", "ridedash.cli", *words],
            cwd=self.folder,
            env=clean_environment(**self.settings[name]),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        ).stdout

    @contextlib.contextmanager
    def started(self, start: str, ready: str) -> Iterator[str]:
        """Start a command that serves. Yields what it has printed, once that contains `ready`."""
        name, words = self.words(start)
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ridedash.cli", *words],
                cwd=self.folder,
                env=clean_environment(**self.settings[name]),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            with process:
                assert process.stdout is not None
                printed = ""
                try:
                    for line in process.stdout:
                        printed += line
                        if ready in line:
                            break
                    yield printed
                finally:
                    process.terminate()
                    process.wait(60)


def test_a_person_can_rehearse_a_live_desk_from_the_page_of_docs(tmp_path: Path) -> None:
    web, service = free_port(), free_port()
    made = Rehearsal(tmp_path, web, service)
    assert made.settings["desk"]["RIDEDASH_MODE"] == "live"
    with made.started("sandbox sandbox", "Sandbox of the ride booking service"):
        assert "revision" in made.done(*made.words("desk db upgrade"))
        name, words = made.words("desk staff add")
        assert "Duty manager can sign in" in made.done(name, words, NEW_PASSWORD)
        with made.started("desk up", "Ctrl-C") as printed:
            assert "a sandbox: no real rides" in printed
            page = get(f"http://127.0.0.1:{web}/sign-in").text
            assert "Rehearsal: no real rides" in page
            # the first search reads all names, which may take longer than a search is allowed to
            assert get(f"http://127.0.0.1:{service}/places?q=a").status_code == 200
            report = made.done("desk", ["doctor"])
    failed = [line.split()[1] for line in report.splitlines() if line.startswith("FAIL")]
    assert failed == ["account"]  # a person connects the account in the browser
    assert "this is a rehearsal" in report
    assert "photon answers, 8 places" in report
    assert f":{service}/tiles/" in report
