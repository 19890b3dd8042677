"""Makes a virtual environment, and installs a lock file and the project into it (tools/setup.sh).

    python3 tools/set_up.py .venv requirements.lock

uv installs in a fifth of pip's time. Its wheel comes from where pip gets its packages, pinned by
hash in requirements-uv.lock, and it is given pip's settings, which it doesn't read by itself. Where
its wheel can't be had, or pip has a setting for which uv has none, pip installs. This module needs
the standard library only.
"""

import ast
import contextlib
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

UV_LOCK: Final = "requirements-uv.lock"
NO_VENV: Final = "Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv"
EVERY_S: Final = 4.0  # a longer silence looks like a stop
PIP: Final = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
# only its wheel: to build uv takes a compiler and minutes; without it pip goes on, which tries more
FOR_UV: Final = ("--retries", "1", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r")


class NotByUv(Exception):
    """pip has to install; the message says why."""


# --- pip's settings, for uv

# settings that change neither what is installed nor where it comes from
HARMLESS: Final = frozenset(
    {
        *("break-system-packages", "config-file", "debug", "disable-pip-version-check"),
        *("exists-action", "log", "no-clean", "no-color", "no-input", "no-python-version-warning"),
        *("no-warn-conflicts", "no-warn-script-location", "prefer-binary", "progress-bar", "quiet"),
        *("require-hashes", "require-virtualenv", "resume-retries", "root-user-action"),
        *("use-feature", "verbose"),
    }
)
OFF: Final = frozenset({"0", "false", "no", "off", "n", "f"})
PROXIES: Final = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")


@dataclass
class ForUv:
    """pip's settings as uv takes them."""

    options: list[str] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)


def _words(value: str) -> str:
    return " ".join(value.split())


def _links(value: str) -> str:
    if "," in value:
        raise ValueError("a comma would be read as the end of a place")
    return ",".join(map(os.path.expanduser, value.split()))


def _seconds(value: str) -> str:
    return str(math.ceil(float(value)))


def _number(value: str) -> str:
    return str(int(value))


def _cache(value: str) -> str:
    return os.path.join(os.path.expanduser(value), "uv")


def _keyring(value: str) -> str:
    if value not in ("disabled", "subprocess"):
        raise ValueError("uv can't import a keyring")
    return value


# for settings of pip: the name of uv's variable, and its value; ValueError where there is none
RENAMED: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "index-url": ("UV_DEFAULT_INDEX", str),
    "pypi-url": ("UV_DEFAULT_INDEX", str),
    "extra-index-url": ("UV_INDEX", _words),
    "find-links": ("UV_FIND_LINKS", _links),
    "trusted-host": ("UV_INSECURE_HOST", _words),
    "client-cert": ("SSL_CLIENT_CERT", str),
    "timeout": ("UV_HTTP_TIMEOUT", _seconds),
    "default-timeout": ("UV_HTTP_TIMEOUT", _seconds),
    "retries": ("UV_HTTP_RETRIES", _number),
    "cache-dir": ("UV_CACHE_DIR", _cache),
    "no-cache-dir": ("UV_NO_CACHE", lambda _: "true"),
    "keyring-provider": ("UV_KEYRING_PROVIDER", _keyring),
}


def settings_of_pip(python: str) -> dict[str, str]:
    """The settings of pip for installing, from its files and the environment. Raises NotByUv."""
    command = [python, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True)
    if listed.returncode:
        raise NotByUv("pip can't read its settings")
    return effective(listed.stdout)


def effective(listed: str) -> dict[str, str]:
    """The settings in what `pip config list` prints; an empty one is none."""
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):  # a later one overrides an earlier one
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            where, _, option = name.rpartition(".")
            if where == section and (text := ast.literal_eval(value)):
                found[option] = text
    return found


def for_uv(settings: Mapping[str, str], environ: Mapping[str, str], lock: str) -> ForUv:
    """pip's settings, and the certificates that it trusts, as uv takes them.

    Raises NotByUv for a setting that uv has not.
    """
    bundle = environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE")
    found = ForUv(environ=_trusted(settings.get("cert") or bundle))
    for option, value in settings.items():
        try:
            _take(found, option, value, lock)
        except (ValueError, OverflowError):
            raise NotByUv(f"it can't follow pip's setting {option}") from None
    return found


def _trusted(certificates: str | None) -> dict[str, str]:
    """The variable by which uv trusts these certificates; else those of the system, as pip does."""
    if not certificates:
        return {"UV_SYSTEM_CERTS": "true"}
    name = "SSL_CERT_DIR" if Path(certificates).is_dir() else "SSL_CERT_FILE"
    return {name: certificates}


def _take(found: ForUv, option: str, value: str, lock: str) -> None:
    """Add one setting of pip. Raises ValueError for one that uv has not."""
    if option in HARMLESS or option == "cert":
        return
    if option in ("no-index", "no-cache-dir") and value.lower() in OFF:
        return
    if option == "no-index":
        found.options.append("--no-index")
    elif option == "proxy":
        address = value if "://" in value else f"http://{value}"
        found.environ |= {cased: address for name in PROXIES for cased in (name, name.lower())}
    elif option == "constraint":
        _require_apart(value, lock)
    elif option in RENAMED:
        name, converted = RENAMED[option]
        found.environ[name] = converted(value)
        if option == "extra-index-url":  # as pip, look into all; the hashes say which file is meant
            found.environ["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    else:
        raise ValueError(option)


def _require_apart(files: str, lock: str) -> None:
    """Raise ValueError unless constraints are only about packages that the lock does not have.

    uv takes no other constraints beside hashes.
    """
    locked = named(Path(lock).read_text())
    for file in files.split():
        try:
            lines = Path(file).read_text().splitlines()
        except OSError as error:  # as for an address
            raise ValueError(file) from error
        for line in filter(None, (line.partition("#")[0].strip() for line in lines)):
            if not named(line) or named(line) & locked:
                raise ValueError(line)


def named(requirements: str) -> set[str]:
    """The packages that requirements name, one a line, as pip compares names."""
    found = re.findall(r"^([A-Za-z0-9][\w.-]*) *(?:[\[=<>!~;@\\]|$)", requirements, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


# --- the steps


def say(text: str) -> None:
    """Say something to the person who waits."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def saying(what: str) -> Iterator[None]:
    """Say what is done, and every few seconds that it is still being done."""
    began, done = time.monotonic(), threading.Event()

    def go_on() -> None:
        while not done.wait(EVERY_S):
            say(f"  … {what}: {time.monotonic() - began:.0f} s")

    say(f"  {what}")
    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def make(venv: Path) -> None:
    """Make the environment. Ends the program where Python has no complete venv module."""
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True)
    if made.returncode:
        shutil.rmtree(venv, ignore_errors=True)
        sys.exit(NO_VENV)


def get_uv(python: str, lock: str) -> ForUv:
    """Put uv into the environment, and return pip's settings for it. Raises NotByUv."""
    settings = for_uv(settings_of_pip(python), os.environ, lock)
    got = subprocess.run([python, *PIP, *FOR_UV, UV_LOCK], capture_output=True, text=True)
    if got.returncode:
        why = re.findall(r"^ERROR: (.*)", got.stderr, re.MULTILINE) or [f"code {got.returncode}"]
        raise NotByUv(f"pip could not get it ({why[-1]})")
    return settings


def by_uv(venv: Path, settings: ForUv, *arguments: str) -> None:
    """Install by uv. Raises NotByUv; where uv could be run, it has said why."""
    command = [str(venv / "bin" / "uv"), "pip", "install", "--quiet", *settings.options]
    command += ["--python", str(venv / "bin" / "python"), *arguments]
    try:
        done = subprocess.run(command, env=os.environ | settings.environ)
    except OSError as error:
        raise NotByUv(f"it can't be run ({error.strerror})") from None
    if done.returncode:
        raise NotByUv("it could not install them")


def by_pip(python: str, *arguments: str) -> None:
    """Install by pip. Ends the program with pip's code if that fails; pip has said why."""
    if code := subprocess.run([python, *PIP, *arguments]).returncode:
        sys.exit(code)


def set_up(venv: Path, lock: str) -> None:
    """Make the environment if it is not there, and install the lock and the project."""
    python = str(venv / "bin" / "python")
    what = f"installing {len(named(Path(lock).read_text()))} packages and ridedash"
    packages = ("--require-hashes", "-r", lock)
    project = ("--no-deps", "--no-build-isolation", "--editable", ".")
    if not Path(python).exists():
        with saying("making the environment"):
            make(venv)
    try:
        with saying("getting uv, which installs the rest"):
            settings = get_uv(python, lock)
        with saying(f"{what} by uv"):
            by_uv(venv, settings, "--compile-bytecode", *packages)  # as pip does
            by_uv(venv, settings, *project)
    except NotByUv as why:
        say(f"  not by uv: {why}; pip goes on, which takes a minute or so")
        with saying(f"{what} by pip"):
            by_pip(python, *packages)
            by_pip(python, *project)


def main(arguments: Sequence[str]) -> None:
    """Set up the environment of the arguments, and say so."""
    venv, lock = arguments
    began = time.monotonic()
    say(f"Setting up {venv} from {lock}, once:")
    set_up(Path(venv), lock)
    say(f"Set up in {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("  stopped; the next start goes on")
