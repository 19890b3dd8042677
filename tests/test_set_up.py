"""The set-up of a virtual environment: by uv with pip's settings, and by pip where uv can't be."""

import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools import set_up
from tools.set_up import NotByUv

ROOT = Path(__file__).parent.parent
UV = Path(sys.executable).parent / "uv"  # where the set-up of this environment has put it

# --- pip's settings


def test_a_setting_counts_where_pip_takes_it_from() -> None:
    listed = (
        ":env:.find-links='/wheels'\n"
        "global.index-url='https://mirror.example/simple'\n"
        "install.index-url='https://of-install.example/simple'\n"
        ":env:.no-index=''\n"
        "global.extra-index-url='https://a.example\\nhttps://b.example'\n"
        "download.index-url='https://of-another-command.example'\n"
        "list.format='json'\n"
    )
    assert set_up.effective(listed) == {
        "find-links": "/wheels",
        "index-url": "https://of-install.example/simple",
        "extra-index-url": "https://a.example\nhttps://b.example",
    }


TWO = "https://a.example https://b.example"
PROXY = "http://name:word@proxy.example:3128"
PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")


@pytest.mark.parametrize(
    ("option", "value", "environ"),
    [
        (
            "index-url",
            "https://n:w@mirror.example",
            {"UV_DEFAULT_INDEX": "https://n:w@mirror.example"},
        ),
        (
            "extra-index-url",
            TWO.replace(" ", "\n"),
            {"UV_INDEX": TWO, "UV_INDEX_STRATEGY": "unsafe-best-match"},
        ),
        ("find-links", f"/wheels {TWO}", {"UV_FIND_LINKS": f"/wheels,{TWO.replace(' ', ',')}"}),
        ("trusted-host", "a.example b.example:80", {"UV_INSECURE_HOST": "a.example b.example:80"}),
        ("client-cert", "/etc/own.pem", {"SSL_CLIENT_CERT": "/etc/own.pem"}),
        ("proxy", PROXY.removeprefix("http://"), dict.fromkeys(PROXIES, PROXY)),
        ("timeout", "0.5", {"UV_HTTP_TIMEOUT": "1"}),
        ("default-timeout", "180", {"UV_HTTP_TIMEOUT": "180"}),
        ("retries", "7", {"UV_HTTP_RETRIES": "7"}),
        ("cache-dir", "cache", {"UV_CACHE_DIR": "cache/uv"}),
        ("no-cache-dir", "1", {"UV_NO_CACHE": "true"}),
        ("no-cache-dir", "off", {}),
        ("no-index", "false", {}),
        ("keyring-provider", "subprocess", {"UV_KEYRING_PROVIDER": "subprocess"}),
        ("progress-bar", "off", {}),
    ],
)
def test_uv_is_given_the_settings_of_pip(
    option: str, value: str, environ: dict[str, str], tmp_path: Path
) -> None:
    found = set_up.for_uv({option: value}, {}, _lock(tmp_path))
    assert found.environ == environ | {"UV_SYSTEM_CERTS": "true"}
    assert found.options == []


def test_uv_asks_no_index_where_pip_asks_none(tmp_path: Path) -> None:
    assert set_up.for_uv({"no-index": "1"}, {}, _lock(tmp_path)).options == ["--no-index"]


def test_a_folder_of_wheels_at_home_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = {"find-links": os.path.join("~", "wheels")}
    found = set_up.for_uv(settings, {}, _lock(tmp_path))
    assert found.environ["UV_FIND_LINKS"] == str(tmp_path / "wheels")


@pytest.mark.parametrize(
    ("settings", "environ", "name"),
    [
        ({"cert": "ca.pem"}, {"REQUESTS_CA_BUNDLE": "other.pem"}, "ca.pem"),
        ({}, {"REQUESTS_CA_BUNDLE": "ca.pem", "CURL_CA_BUNDLE": "other.pem"}, "ca.pem"),
        ({}, {"CURL_CA_BUNDLE": "ca.pem"}, "ca.pem"),
    ],
)
def test_uv_trusts_the_certificates_that_pip_trusts(
    settings: dict[str, str], environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    found = set_up.for_uv(settings, environ, _lock(tmp_path))
    assert found.environ == {"SSL_CERT_FILE": name}


def test_uv_trusts_a_folder_of_certificates(tmp_path: Path) -> None:
    found = set_up.for_uv({"cert": str(tmp_path)}, {}, _lock(tmp_path))
    assert found.environ == {"SSL_CERT_DIR": str(tmp_path)}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("no-binary", ":all:"),
        ("target", "/opt/here"),
        ("pre", "true"),
        ("keyring-provider", "import"),
        ("find-links", "/wheels,with-a-comma"),
        ("timeout", "soon"),
        ("timeout", "inf"),
        ("retries", "many"),
        ("a-setting-of-tomorrow", "1"),
    ],
)
def test_pip_installs_where_uv_can_not_follow_its_settings(
    option: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(NotByUv, match=option):
        set_up.for_uv({option: value}, {}, _lock(tmp_path))


@pytest.mark.parametrize(
    ("constraints", "apart"),
    [
        ("# none\nother<2\n\nyet.another==1.0 # why\n", True),
        ("other<2\nPigment <2\n", False),
        ("-c more.txt\n", False),
        ("https://mirror.example/pigment-2.0-py3-none-any.whl\n", False),
    ],
)
def test_uv_installs_beside_constraints_on_other_packages_only(
    constraints: str, apart: bool, tmp_path: Path
) -> None:
    file, lock = tmp_path / "constraints.txt", _lock(tmp_path)
    file.write_text(constraints)
    if apart:
        assert "UV_CONSTRAINT" not in set_up.for_uv({"constraint": str(file)}, {}, lock).environ
        return
    with pytest.raises(NotByUv, match="constraint"):
        set_up.for_uv({"constraint": str(file)}, {}, lock)


def test_constraints_at_an_address_are_left_to_pip(tmp_path: Path) -> None:
    with pytest.raises(NotByUv, match="constraint"):
        set_up.for_uv({"constraint": "https://mirror.example/c.txt"}, {}, _lock(tmp_path))


def test_the_packages_of_a_lock_are_counted_once() -> None:
    pins = ["a.b==1 \\", "    --hash=sha256:00", 'c==2 ; python_version < "3.12" \\', "c==3 \\"]
    text = "\n".join([*pins, "# d==4", "e[x]==5", "f"])
    assert set_up.named(text) == {"a-b", "c", "e", "f"}


def _lock(folder: Path) -> str:
    path = folder / "packages.lock"
    path.write_text("pigment==1.0 \\\n    --hash=sha256:00\n")
    return str(path)


# --- what it says


def test_it_says_again_and_again_what_it_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(set_up, "EVERY_S", 0.01)
    with set_up.saying("installing"):
        while capsys.readouterr().err.count("… installing: 0 s") < 1:
            pass
    said = capsys.readouterr().err
    assert re.fullmatch(r"(  … installing: \d s\n)*", said)


# --- both ways

BACKEND = """
import zipfile

NAME = "ridedash-1.0.dist-info"
FILES = {
    f"{NAME}/METADATA": "Metadata-Version: 2.1\\nName: ridedash\\nVersion: 1.0\\n",
    f"{NAME}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    f"{NAME}/RECORD": f"{NAME}/METADATA,,\\n{NAME}/WHEEL,,\\n{NAME}/RECORD,,\\n",
}

def build_editable(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/ridedash-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
    return "ridedash-1.0-py3-none-any.whl"
"""
NO_UV = f"uv==1.0 --hash=sha256:{'0' * 64}\n"
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "ridedash"
version = "1.0"
"""


def _wheel(folder: Path, name: str, files: Mapping[str, str], mode: int = 0o644) -> str:
    """Make a wheel of version 1.0 in a folder. Returns its line for a lock."""
    path, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    tag = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    content = {**files, f"{info}/METADATA": head, f"{info}/WHEEL": tag}
    rows = [f"{at},{_digest(text)},{len(text)}" for at, text in content.items()]
    content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    with zipfile.ZipFile(path, "w") as wheel:
        for at, text in content.items():
            wheel.writestr(at, text)
            wheel.getinfo(at).external_attr = (stat.S_IFREG | mode) << 16
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass
class Checkout:
    """A project of two small packages, with our set-up, and the environment that it makes."""

    folder: Path
    wheels: Path

    def set_up(self, lock: str, **pip: str) -> "subprocess.CompletedProcess[str]":
        """Run the set-up with these settings of pip in the environment, and no others."""
        given = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
        caches = {"PIP_NO_CACHE_DIR": "1", "PYTHON": sys.executable, "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            ["sh", "tools/setup.sh", ".venv", lock],
            cwd=self.folder,
            env=given | caches | pip,
            capture_output=True,
            text=True,
        )

    def installer(self, name: str) -> str:
        """The program that has installed a package; "" if it is not there."""
        found = [*self.folder.glob(f".venv/lib/python*/site-packages/{name}-1.0.dist-info")]
        return (found[0] / "INSTALLER").read_text().strip() if found else ""

    def lock(self, name: str, *lines: str) -> str:
        (self.folder / name).write_text("".join(lines))
        return name

    def wheel(self, name: str) -> str:
        """Make a small package. Returns the name of its lock."""
        return self.lock(f"{name}.lock", _wheel(self.wheels, name, {f"{name}.py": ""}))

    def give_uv(self, script: str, mode: int = 0o755) -> None:
        """Let the set-up get this program as uv, and forget what it has got before."""
        files = {"uv-1.0.data/scripts/uv": f"#!/bin/sh\n{script}\n"}
        line = _wheel(self.wheels, "uv", files, mode)
        self.lock(set_up.UV_LOCK, line)
        for path in self.folder.glob(".venv/lib/python*/site-packages/uv-1.0.dist-info"):
            shutil.rmtree(path)
        (self.folder / ".venv" / "bin" / "uv").unlink(missing_ok=True)

    def give_real_uv(self) -> Path:
        """Let it get a uv that passes its calls on. Returns the file that records them."""
        if not UV.exists():
            pytest.skip("uv could not be had when this environment was set up")
        record = self.folder / "calls"
        record.unlink(missing_ok=True)
        self.give_uv(f'echo "$*" >>{record}\nexec {UV} "$@"')
        return record

    @property
    def by_folder(self) -> dict[str, str]:
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """One that has been set up once, where the wheel of uv could not be had."""
    made = Checkout(tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheels"))
    (made.folder / "tools").mkdir()
    for name in ("setup.sh", "set_up.py"):
        (made.folder / "tools" / name).write_text((ROOT / "tools" / name).read_text())
    (made.folder / "pyproject.toml").write_text(PROJECT)
    (made.folder / "backend.py").write_text(BACKEND)
    made.lock(set_up.UV_LOCK, NO_UV)
    done = made.set_up(made.wheel("pigment"), **made.by_folder)
    assert done.returncode == 0, done.stderr
    venv, got, why, rest, end = _said(done)[1:]
    assert venv == "  making the environment"
    assert got == "  getting uv, which installs the rest"
    assert why.startswith(
        "  not by uv: pip could not get it (No matching distribution found for uv"
    )
    assert why.endswith("); pip goes on, which takes a minute or so")
    assert rest == "  installing 1 packages and ridedash by pip"
    assert end == "Set up in N s."
    return made


def _said(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """What the set-up said, without the lines that say it again."""
    once = [line for line in done.stderr.splitlines() if not line.startswith("  … ")]
    return [re.sub(r"\d+ s\.$", "N s.", line) for line in once]


def test_pip_installs_where_the_wheel_of_uv_can_not_be_had(checkout: Checkout) -> None:
    assert checkout.installer("pigment") == "pip"


def test_a_wheel_of_uv_with_another_hash_is_not_used(checkout: Checkout) -> None:
    checkout.give_uv("exit 0")
    checkout.lock(set_up.UV_LOCK, NO_UV)
    done = checkout.set_up(checkout.wheel("varnish"), **checkout.by_folder)
    assert done.returncode == 0, done.stderr
    assert "not by uv: pip could not get it" in done.stderr
    assert checkout.installer("varnish") == "pip"


def test_uv_installs_from_the_folder_of_wheels_that_pip_is_set_to(checkout: Checkout) -> None:
    record = checkout.give_real_uv()
    done = checkout.set_up(checkout.wheel("resin"), **checkout.by_folder)
    assert done.returncode == 0, done.stderr
    assert _said(done) == [
        "Setting up .venv from resin.lock, once:",
        "  getting uv, which installs the rest",
        "  installing 1 packages and ridedash by uv",
        "Set up in N s.",
    ]
    assert checkout.installer("resin") == checkout.installer("ridedash") == "uv"
    common = "pip install --quiet --no-index --python .venv/bin/python"
    assert record.read_text().splitlines() == [
        f"{common} --compile-bytecode --require-hashes -r resin.lock",
        f"{common} --no-deps --no-build-isolation --editable .",
    ]


def test_uv_installs_from_the_index_in_a_file_of_pips_settings(checkout: Checkout) -> None:
    checkout.give_real_uv()
    lock = checkout.wheel("ochre")
    index = checkout.folder / "simple"
    for name in ("uv", "ochre"):
        file = f"{name}-1.0-py3-none-any.whl"
        (index / name).mkdir(parents=True)
        (index / name / "index.html").write_text(f'<!DOCTYPE html><a href="{file}">{file}</a>')
        shutil.move(checkout.wheels / file, index / name)
    settings = checkout.folder / "pip.conf"
    settings.write_text(f"[global]\nindex-url = {index.as_uri()}\n")
    done = checkout.set_up(lock, PIP_CONFIG_FILE=str(settings))
    assert done.returncode == 0, done.stderr
    assert checkout.installer("ochre") == "uv", done.stderr


def test_what_has_another_hash_is_installed_by_neither(checkout: Checkout) -> None:
    checkout.give_real_uv()
    checkout.wheel("forged")
    lock = checkout.lock("forged.lock", f"forged==1.0 --hash=sha256:{'0' * 64}\n")
    done = checkout.set_up(lock, **checkout.by_folder)
    assert done.returncode == 1, done.stderr
    assert "by uv" in done.stderr
    assert "by pip" in done.stderr
    assert checkout.installer("forged") == ""


@pytest.mark.parametrize(
    ("mode", "why"),
    [(0o755, "it could not install them"), (0o644, "it can't be run (Permission denied)")],
)
def test_pip_installs_where_uv_stumbles(mode: int, why: str, checkout: Checkout) -> None:
    checkout.give_uv("exit 2", mode)
    lock = checkout.wheel(f"lake{mode}")
    done = checkout.set_up(lock, **checkout.by_folder)
    assert done.returncode == 0, done.stderr
    assert f"not by uv: {why}; pip goes on" in done.stderr
    assert checkout.installer(f"lake{mode}") == "pip"


def test_an_environment_whose_making_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    """Its Python is there, but no pip yet."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "setup.sh").write_text((ROOT / "tools" / "setup.sh").read_text())
    (tmp_path / "tools" / "set_up.py").write_text("import sys; print(sys.executable)")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=tmp_path, check=True
    )
    done = subprocess.run(
        ["sh", "tools/setup.sh", ".venv", "x.lock"],
        cwd=tmp_path,
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == sys.executable
    assert not (tmp_path / ".venv").exists()
