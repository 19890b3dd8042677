"""A real `ridedash up` as a child process, for tests that need the whole program."""

import contextlib
import gzip
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import brotli

from ridedash.views.ops import static_files
from ridedash.views.ops.file_server import FOLDER, FileServer
from tests import databases

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

# An upper bound for an answer on a busy machine; httpx's default is 5 s.
ANSWERS_S: Final = 60.0
STATIC: Final = Path(__file__).parents[1] / "static"


@dataclass
class Running:
    """The process of a running demo, and its console output."""

    url: str
    sandbox_url: str
    name: str
    password: str
    instance: Path
    process: "subprocess.Popen[str]"

    @property
    def has_broken(self) -> bool:
        """Whether the program has logged a traceback: also what stumbles on purpose logs none."""
        return "Traceback" in (self.instance / "stderr.log").read_text(errors="replace")

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of one page."""
        request = urllib.request.Request(self.url + path)
        try:
            with urllib.request.urlopen(request, timeout=ANSWERS_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


def clean_environment(**settings: str) -> dict[str, str]:
    """The environment without settings of ours, plus the given ones."""
    return {k: v for k, v in os.environ.items() if not k.startswith("RIDEDASH_")} | settings


@contextlib.contextmanager
def running(
    instance: Path,
    pace: str = "1",
    command: Sequence[str] = (sys.executable, "-m", "ridedash.cli"),
    stumbles: bool = False,
    options: Sequence[str] = (),
    **settings: str,
) -> Iterator[Running]:
    """Start a demo on free ports; at the end stop it, and check its exit code and its log.

    `stumbles`: the test causes errors on purpose, so errors in the log are not checked here.
    """
    chosen = {
        "RIDEDASH_INSTANCE": str(instance),
        "RIDEDASH_PORT": "0",
        "RIDEDASH_SANDBOX_PORT": "0",
        "RIDEDASH_PACE": pace,
        "RIDEDASH_DEMO": "empty",
    }
    environ = clean_environment(**(chosen | databases.settings_for(instance) | settings))
    instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    _give_files(instance)
    give_streets(instance)
    with (instance / "stderr.log").open("w+") as log:
        started = subprocess.Popen(
            [*command, "up", *options],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=instance,
        )
        with started as process:
            try:
                yield _welcomed(process, instance)
            finally:
                process.terminate()
                code = process.wait(ANSWERS_S)
        log.seek(0)
        errors = log.read()
    assert code == 0, errors
    assert stumbles or not any(word in errors for word in ("Traceback", "Fatal", "Error")), errors


def _give_files(instance: Path) -> None:
    """Copy the compressed files into a test's new instance, because making them takes a second."""
    folder = os.environ.get("RIDEDASH_TEST_TEMPLATES")
    if folder is None or (instance / FOLDER).exists():
        return
    files = static_files.read(STATIC)
    shared = Path(folder) / "instance"
    FileServer(_nothing, files, {}).serve_compressed(shared, datetime.now(UTC))
    shutil.copytree(shared / FOLDER / files.digest, instance / FOLDER / files.digest)
    for path in [instance / FOLDER, *(instance / FOLDER).rglob("*")]:
        path.chmod(path.stat().st_mode & 0o700)  # the modes that the program gives its files


def give_streets(instance: Path) -> None:
    """Let all programs of a test run share the streets that the first of them has grown."""
    folder = os.environ.get("RIDEDASH_TEST_TEMPLATES")
    if folder is None or (instance / "streets").exists():
        return
    shared = Path(folder) / "streets"
    shared.mkdir(exist_ok=True, mode=0o700)
    instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    (instance / "streets").symlink_to(shared)


def _nothing(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
    raise AssertionError("it is not asked for pages")


def _welcomed(process: "subprocess.Popen[str]", instance: Path) -> Running:
    """Read the console up to the last line of the greeting."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if "Ctrl-C" in line:
            break

    def word(pattern: str) -> str:
        found = re.search(pattern, text)
        assert found, f"{text}\n{(instance / 'stderr.log').read_text()}"
        return found.group(1)

    return Running(
        word(r"ridedash: (\S+)"),
        "" if "not our sandbox" in text else word(r"sandbox +(\S+)"),
        word(r"sign in as +(\S+)"),
        word(r"password +(\S+)"),
        instance,
        process,
    )


NOTHING: Mapping[str, str] = {}


def check_files(url: str, page: str, headers: Mapping[str, str] = NOTHING) -> None:
    """Check that the files of a page are served as browsers want them, by whatever server."""
    names = set(re.findall(r'(?:href|src)="(/static/[^"#]+\.(?:css|js))"', page))
    assert names
    for name in names:
        answers = [
            _fetched(url + name, {**headers, "Accept-Encoding": c}) for c in ("br", "gzip", "")
        ]
        bodies = [answer.read() for answer in answers]
        unpacked = [brotli.decompress(bodies[0]), gzip.decompress(bodies[1]), bodies[2]]
        assert unpacked[0] == unpacked[1] == unpacked[2]
        for answer, body in zip(answers, bodies, strict=True):
            assert answer.headers["Content-Length"] == str(len(body))
            assert answer.headers["Cache-Control"] == "max-age=31536000, public, immutable"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def _fetched(url: str, headers: Mapping[str, str]) -> Any:
    return urllib.request.urlopen(
        urllib.request.Request(url, headers=dict(headers)), timeout=ANSWERS_S
    )


def whole(app: Any) -> Any:
    """Read each body of the WSGI app before it is sent: a lost connection leaves no open file."""

    def answer(environ: Any, start: Any) -> list[bytes]:
        body = app(environ, start)
        try:
            return [b"".join(body)]
        finally:
            if hasattr(body, "close"):
                body.close()

    return answer
