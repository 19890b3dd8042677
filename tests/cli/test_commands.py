"""The command line as its user meets it: messages, refusals, and a clean stop."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ridedash.cli.http_server import listen, listen_patiently
from tests import streets
from tests.cli.in_process import run
from tests.databases import SQLITE, kind, migrated_instance, settings_for
from tests.running import check_files, clean_environment, running

pytestmark = pytest.mark.database
RIDEDASH = [sys.executable, "-m", "ridedash.cli"]


def ridedash(
    instance: Path, *words: str, given: str = "", **settings: str
) -> "subprocess.CompletedProcess[str]":
    environ = clean_environment(
        RIDEDASH_INSTANCE=str(instance), **(settings_for(instance) | settings)
    )
    return subprocess.run(
        [*RIDEDASH, *words],
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_up_serves_the_dashboard_its_tiles_and_a_live_worker_and_stops_cleanly(
    tmp_path: Path,
) -> None:
    with running(tmp_path / "instance") as demo:
        status, page = demo.get("/sign-in")
        assert status == 200
        assert "demo: no real rides" in page.lower()
        assert demo.password in page
        check_files(demo.url, page)
        status, tile = demo.get("/tiles/12/591/2503.svg")
        assert status == 200
        assert tile.startswith("<svg")
        assert demo.get("/healthz")[0] == 200
        assert "MALLOC_ARENA_MAX=1" in environment_of_child(demo.process.pid)


def test_files_are_of_their_user_alone_and_a_second_start_keeps_the_password(
    tmp_path: Path,
) -> None:
    instance = tmp_path / "instance"
    instance.mkdir()
    instance.chmod(0o755)
    before = os.umask(0o022)
    try:
        with running(instance) as demo:
            assert demo.get("/healthz")[0] == 200
            ours = [path for path in instance.rglob("*") if path.name != "stderr.log"]
            modes = {str(path): oct(path.stat().st_mode & 0o077) for path in ours if path.exists()}
    finally:
        os.umask(before)
    assert {path.name for path in ours} >= {"sandbox.db", "blackbox", "metrics"}
    assert set(modes.values()) == {"0o0"}, modes
    with running(instance) as second:
        assert second.password == demo.password


def environment_of_child(parent: int) -> list[str]:
    (child,) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return Path(f"/proc/{child}/environ").read_text().split("\0")


def test_a_worker_that_ends_by_itself_ends_the_process_so_that_it_is_restarted(
    tmp_path: Path,
) -> None:
    code = (
        "import sys; from ridedash.rides.worker import Worker; Worker.run = lambda *_: sys.exit(); "
    )
    code += "from ridedash.cli import main; main(['up'])"
    settings = {
        "RIDEDASH_INSTANCE": str(tmp_path),
        "RIDEDASH_PORT": "0",
        "RIDEDASH_SANDBOX_PORT": "0",
        "RIDEDASH_DEMO": "empty",
    }
    environ = clean_environment(**(settings_for(tmp_path) | settings))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "the worker ended by itself" in done.stderr


def test_a_busy_port_gives_one_sentence_that_names_the_setting(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0, "RIDEDASH_PORT") as taken:
        port = str(taken.getsockname()[1])
        done = ridedash(tmp_path, "up", RIDEDASH_PORT=port, RIDEDASH_SANDBOX_PORT="0")
    assert done.returncode == 2
    assert "RIDEDASH_PORT" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_a_killed_program_still_holds_is_waited_for() -> None:
    held = listen("127.0.0.1", 0, "RIDEDASH_SANDBOX_PORT")
    port = held.getsockname()[1]
    leaving = threading.Timer(0.3, held.close)
    leaving.start()
    try:
        listen_patiently("127.0.0.1", port, "RIDEDASH_SANDBOX_PORT", patience_s=20).close()
    finally:
        leaving.join()


def test_an_invalid_setting_gives_one_sentence_that_names_it(tmp_path: Path) -> None:
    done = ridedash(tmp_path, "up", RIDEDASH_PACE="fast")
    assert done.returncode == 2
    assert "RIDEDASH_PACE" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ("", "can't be used (File exists)"),
        ("secrets.json", "is damaged"),
        ("ridedash.db", "file is not a database"),
        ("blackbox", "can't be written (File exists)"),
    ],
)
@pytest.mark.sqlite_only
def test_an_unusable_instance_folder_gives_one_sentence(
    tmp_path: Path, spoilt: str, message: str
) -> None:
    folder = tmp_path / "instance"
    if spoilt:
        folder.mkdir()
    (folder / spoilt if spoilt else folder).write_text("nonsense " * 200)
    done = ridedash(folder, "up", RIDEDASH_PORT="0", RIDEDASH_SANDBOX_PORT="0")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_staff_and_accounts_are_added_from_standard_input(tmp_path: Path) -> None:
    migrated_instance(tmp_path)
    password = "a long enough phrase"
    added = run(
        tmp_path,
        "staff",
        "add",
        "--new-property",
        "--property",
        "Hotel A",
        "--name",
        "Night desk",
        given=password + "\n",
    )
    assert added.returncode == 0, added.stderr
    again = run(
        tmp_path,
        "staff",
        "add",
        "--property",
        "Hotel A",
        "--name",
        "night  desk",
        given=password + "\n",
    )
    assert again.returncode == 2
    assert "already" in again.stderr
    link = ["account", "link", "--property", "Hotel A", "--label", "House", "--access-token-stdin"]
    linked = run(tmp_path, *link, "--affiliate-uid", "hotel-17", given="token-for-this-test\n")
    assert linked.returncode == 0, linked.stderr
    assert "House: ok, affiliate id hotel-17" in ridedash(tmp_path, "doctor").stdout
    if kind() == SQLITE:
        assert b"token-for-this-test" not in (tmp_path / "ridedash.db").read_bytes()


@pytest.mark.parametrize(
    ("words", "given", "message"),
    [
        (["staff", "add", "--property", "P", "--name", "N"], "short\n", "12"),
        (
            ["staff", "add", "--property", "P", "--name", "N", "--timezone", "Mars/One"],
            "long enough words\n",
            "time zone",
        ),
        (
            ["account", "link", "--property", "Nowhere", "--label", "L", "--access-token-stdin"],
            "t\n",
            "no property",
        ),
        (
            ["account", "link", "--property", "P", "--label", "L", "--access-token-stdin"],
            "\n",
            "no access token",
        ),
    ],
)
def test_a_command_that_fails_explains_it_in_a_sentence(
    tmp_path: Path, words: list[str], given: str, message: str
) -> None:
    migrated_instance(tmp_path)
    done = run(tmp_path, *words, given=given)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_command_on_an_old_database_names_the_command_to_run(tmp_path: Path) -> None:
    done = ridedash(
        tmp_path, "staff", "add", "--property", "P", "--name", "N", given="long enough words\n"
    )
    assert done.returncode == 2
    assert "ridedash db upgrade" in done.stderr


def test_live_mode_has_no_sandbox(tmp_path: Path) -> None:
    from tests.test_config import LIVE

    done = ridedash(tmp_path, "sandbox", **LIVE)
    assert done.returncode == 2
    assert "demo mode only" in done.stderr


def test_the_sandbox_takes_no_partner_key_that_could_be_a_real_ones(tmp_path: Path) -> None:
    done = ridedash(tmp_path, "sandbox", RIDEDASH_SERVICE_APP_TOKEN="partner-key-51f0c7")
    assert done.returncode == 2
    assert "RIDEDASH_SERVICE_APP_TOKEN must begin with ridedash-sandbox-" in done.stderr


def test_doctor_passes_for_a_running_demo_and_fails_for_a_stopped_one(tmp_path: Path) -> None:
    instance = tmp_path / "instance"
    streets.grow()  # the doctor asks for what needs them, and waits a few seconds
    with running(instance) as demo:
        ports = {
            "RIDEDASH_PORT": demo.url.rsplit(":", 1)[1],
            "RIDEDASH_SANDBOX_PORT": demo.sandbox_url.rsplit(":", 1)[1],
        }
        well = ridedash(instance, "doctor", **ports)
    assert well.returncode == 0, well.stdout + well.stderr
    assert {line.split()[1] for line in well.stdout.splitlines()} == {
        "database",
        "migrations",
        "worker",
        "account",
        "restore",
        "files",
        "address",
        "service",
        "oauth",
        "tiles",
        "geocoder",
        "clock",
    }
    ill = ridedash(instance, "doctor", **ports)
    assert ill.returncode == 1
    assert "RIDEDASH_SERVICE_URL" in ill.stdout
