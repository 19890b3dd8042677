"""The wheel: it runs in another folder, and in live mode serves nothing of a demo."""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.running import check_files, clean_environment, running
from tests.test_config import LIVE
from tests.test_guard import ROOT, ROUTES, SANDBOX_ROUTES

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def test_the_wheel_runs_in_another_folder_and_live_has_nothing_of_the_director(
    tmp_path: Path,
) -> None:
    """This is one test, so that the wheel is built only once."""
    elsewhere = installed(tmp_path)
    assert (elsewhere / "ridedash" / "templates" / "web/base.html").is_file()
    script = (
        "import ridedash, ridedash.cli; "
        "assert 'elsewhere' in ridedash.__file__; ridedash.cli.main()"
    )
    command = alone(elsewhere, script)
    with running(tmp_path / "instance", command=command, PYTHONPATH=str(elsewhere)) as demo:
        status, page = demo.get("/sign-in")
        assert status == 200
        check_files(demo.url, page)
    checked = check_live(elsewhere, tmp_path / "live")
    assert (checked.returncode, checked.stdout.strip()) == (0, ""), checked.stderr
    made = {each.name for each in (tmp_path / "live").rglob("*")}
    assert made.isdisjoint({"demo.db", "lens.db", "sandbox.db", "pictures"})


def installed(folder: Path) -> Path:
    """The wheel, built and unpacked."""
    built, elsewhere = folder / "dist", folder / "elsewhere"
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(built), str(ROOT))
    subprocess.run([*PIP, *build], check=True, capture_output=True, timeout=120)
    (wheel,) = built.glob("*.whl")
    install = ("install", "--quiet", "--no-deps", "--target", str(elsewhere), str(wheel))
    subprocess.run([*PIP, *install], check=True, capture_output=True, timeout=120)
    return elsewhere


def alone(elsewhere: Path, script: str) -> tuple[str, ...]:
    """A command that runs a script with the wheel and the installed libraries.

    -P and -S keep this checkout off the path.
    """
    paths = f"[{str(elsewhere)!r}, {sysconfig.get_path('purelib')!r}]"
    return sys.executable, "-P", "-S", "-c", f"import sys; sys.path[:0] = {paths}; {script}"


def check_live(elsewhere: Path, instance: Path) -> "subprocess.CompletedProcess[str]":
    """Ask a live desk of the wheel for everything that only a demo has. What it printed."""
    instance.mkdir(mode=0o700)
    static = ROOT / "static"
    files = [path for path in static.glob("*/demo/**/*") if path.is_file()]
    request = {
        "package": str(elsewhere),
        "routes": sorted(demo_routes()),
        "files": [path.relative_to(static).as_posix() for path in files],
    }
    assert len(request["routes"]) > 30
    assert len(files) > 15
    program = str(ROOT / "tests" / "live_desk.py")
    script = f"import runpy; runpy.run_path({program!r}, run_name='__main__')"
    return subprocess.run(
        [*alone(elsewhere, script), json.dumps(request)],
        env=clean_environment(**LIVE, RIDEDASH_INSTANCE=str(instance)),
        cwd=instance,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def demo_routes() -> set[str]:
    """Every address of the director and of the sandbox's control, with 1 for each parameter."""
    lines = (ROUTES + SANDBOX_ROUTES).strip().splitlines()
    paths = (line.split()[1] for line in lines if line)
    named = (each for each in paths if each.startswith(("/demo", "/control")))
    return {re.sub(r"<[^>]*>", "1", each) for each in named}
