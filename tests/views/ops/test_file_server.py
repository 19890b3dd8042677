"""The server of static files: files compressed once, headers, and files of replaced releases."""

import gzip
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import brotli
import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from ridedash.views.ops import file_server, static_files
from ridedash.views.ops.file_server import KEEP_FOR, FileServer
from ridedash.views.ops.static_files import StaticFiles
from tests.views.ride_pages import NOON

HEAD = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
MODULE = "export const words = [" + '"the same again", ' * 200 + "];\n"
FILES = {"js/a.js": MODULE, "css/b.css": "p { color: red; }\n" * 50, "img/c.svg": "<svg/>"}


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


def release(folder: Path, **changed: str) -> StaticFiles:
    """The files as a process reads them that starts now."""
    for name, text in (
        FILES | {name.replace("_", "/") + ".js": changed[name] for name in changed}
    ).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    static_files.read.cache_clear()
    return static_files.read(folder)


def behind(_environ: object, start: Callable[..., object]) -> list[bytes]:
    start("404 NOT FOUND", [])
    return [b"the app"]


class Served:
    """A process that serves a release, and its answers."""

    def __init__(self, files: StaticFiles, instance: Path, after: timedelta = timedelta()) -> None:
        self.files = files
        self.server = FileServer(behind, files, HEAD)
        self.server.serve_compressed(instance, NOON + after)

    def get(self, address: str, coding: str = "", method: str = "GET") -> TestResponse:
        headers = {"Accept-Encoding": coding}
        return Client(self.server).open(address, method=method, headers=headers, buffered=True)

    def file(self, name: str, coding: str = "") -> TestResponse:
        return self.get(self.files.prefix + name, coding)


UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("", None), ("identity", None)],
)
def test_a_browser_gets_the_smallest_form_that_it_reads(
    tmp_path: Path, instance: Path, accepted: str, coding: str | None
) -> None:
    served = Served(release(tmp_path / "static"), instance)
    answer = served.file("js/a.js", accepted)
    assert answer.status_code == 200
    assert answer.headers.get("Content-Encoding") == coding
    assert UNPACK[coding](answer.data) == MODULE.encode()
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["Cache-Control"] == "max-age=31536000, public, immutable"
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert {name: answer.headers[name] for name in HEAD} == HEAD
    without = "Access-Control-Allow-Origin", "ETag", "Last-Modified"
    assert not [name for name in without if name in answer.headers]


def test_a_file_that_compression_makes_no_smaller_is_sent_as_it_is(
    tmp_path: Path, instance: Path
) -> None:
    answer = Served(release(tmp_path / "static"), instance).file("img/c.svg", "br, gzip")
    assert "Content-Encoding" not in answer.headers
    assert answer.data == b"<svg/>"
    png = "vendor/leaflet/images/layers.png"
    assert Served(release(tmp_path / "static"), instance).file(png).mimetype == "image/png"


def test_files_are_compressed_once_by_all_processes_of_a_machine(
    tmp_path: Path, instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = release(tmp_path / "static")
    Served(files, instance)
    monkeypatch.setattr(file_server.Compressor, "compress", lambda *_: pytest.fail("again"))
    assert Served(files, instance).file("js/a.js", "br").headers["Content-Encoding"] == "br"


@pytest.mark.parametrize("end", ["", ".br", ".gz"])
@pytest.mark.parametrize("content", [b"", b"broken"])
def test_what_a_loss_of_power_left_half_written_is_made_again(
    tmp_path: Path, instance: Path, end: str, content: bytes
) -> None:
    files = release(tmp_path / "static")
    Served(files, instance)
    (instance / "files" / files.digest / f"js/a.js{end}").write_bytes(content)
    (instance / "files" / ".killed").mkdir()
    served = Served(files, instance)
    for accepted, coding in (("br", "br"), ("gzip", "gzip"), ("", None)):
        assert UNPACK[coding](served.file("js/a.js", accepted).data) == MODULE.encode()
    assert not (instance / "files" / ".killed").exists()


def test_a_folder_that_cannot_be_written_costs_speed_alone(
    tmp_path: Path, instance: Path, caplog: pytest.LogCaptureFixture
) -> None:
    instance.write_text("a file where the folder would be")
    answer = Served(release(tmp_path / "static"), instance).file("js/a.js", "br")
    assert answer.text == MODULE
    assert "Content-Encoding" not in answer.headers
    assert "uncompressed" in caplog.text


def test_live_mode_serves_no_file_of_a_demo_that_was_in_its_folder(
    tmp_path: Path, instance: Path
) -> None:
    demo = Served(release(tmp_path / "static", js_demo_stage="export {};"), instance)
    live = Served(static_files.read(tmp_path / "static", demo=False), instance)
    assert demo.file("js/demo/stage.js").text == "export {};"
    assert live.get(demo.files.prefix + "js/a.js").text == MODULE
    for files in (demo.files, live.files):
        assert live.get(files.prefix + "js/demo/stage.js").text == "the app"


def test_a_page_of_the_release_before_goes_on_with_its_own_modules_for_a_day(
    tmp_path: Path, instance: Path
) -> None:
    old = Served(release(tmp_path / "static"), instance)
    new = Served(release(tmp_path / "static", js_a="export {};"), instance)
    assert new.file("js/a.js").text == "export {};"
    assert new.get(old.files.prefix + "js/a.js").text == MODULE
    # the day begins with the update, however long the release was in use
    later = Served(new.files, instance, KEEP_FOR)
    assert later.get(old.files.prefix + "js/a.js").text == MODULE
    at_last = Served(new.files, instance, KEEP_FOR + timedelta(seconds=1))
    assert at_last.get(old.files.prefix + "js/a.js").text == "the app"
    assert sorted(path.name for path in (instance / "files").iterdir()) == [
        ".lock",
        new.files.digest,
    ]
    # a process that started before doesn't serve the deleted files either
    assert later.get(old.files.prefix + "js/a.js").text == "the app"


def test_a_release_that_comes_back_stays(tmp_path: Path, instance: Path) -> None:
    first = Served(release(tmp_path / "static"), instance)
    Served(release(tmp_path / "static", js_a="export {};"), instance)
    again = Served(release(tmp_path / "static"), instance, timedelta(hours=1))
    assert again.files.digest == first.files.digest
    other = Served(release(tmp_path / "static", js_a="export {};"), instance, timedelta(days=30))
    assert other.get(first.files.prefix + "js/a.js").text == MODULE


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_any_method_but_get_and_head_is_for_the_app(
    tmp_path: Path, instance: Path, method: str
) -> None:
    served = Served(release(tmp_path / "static"), instance)
    assert served.get(served.files.prefix + "js/a.js", method=method).text == "the app"
    head = served.get(served.files.prefix + "js/a.js", method="HEAD")
    assert (head.status_code, head.data) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(MODULE)


@pytest.mark.parametrize(
    "name",
    [".lock", "../.lock", "js/a.js.br", "js/a.js.gz", "js/../js/a.js", "%2e%2e/.lock", "js/"],
)
def test_nothing_else_of_the_folder_is_served(tmp_path: Path, instance: Path, name: str) -> None:
    old = Served(release(tmp_path / "static"), instance)
    served = Served(release(tmp_path / "static", js_a="export {};"), instance)
    for files in (old.files, served.files):
        assert served.get(files.prefix + name).text == "the app"
    assert served.get(f"/static/{name}").text == "the app"


def test_the_app_has_it_before_flask_and_behind_the_poll_cache(tmp_path: Path) -> None:
    from ridedash.factory import create_app

    app: Flask = create_app({"RIDEDASH_INSTANCE": str(tmp_path / "instance")})
    file_server.prepare(app)
    address = app.extensions[static_files.EXTENSION].prefix + "css/shared/base.css"
    answer = app.test_client().get(address, headers={"Accept-Encoding": "br"}, buffered=True)
    assert answer.headers["Content-Encoding"] == "br"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    app.extensions["ridedash"].db.close()
