"""Addresses of static files hold a digest of all files; a page names the modules it imports."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from ridedash.factory import create_app
from ridedash.views.ops.static_files import StaticFiles, read

ROOT = Path(__file__).parents[3]
SCRIPTS = {
    "js/page.js": 'import { a,\n  b } from "./one.js";\nimport "../js/two.js";\nconst x = 1;\n',
    "js/one.js": 'export { c } from "./deep/three.js";\n// import "./not.js";\n',
    "js/two.js": 'import * as one from "./one.js";\nimport("./later.js");\n',
    "js/deep/three.js": 'import { page } from "../page.js";\nconst say = "./no.js";\n',
    "js/later.js": "",
}


def written(folder: Path, files: dict[str, str]) -> StaticFiles:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    read.cache_clear()  # as in a process that has just started
    return read(folder)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[FlaskClient]:
    """A client of an app without tables, which serves few pages but all files."""
    app = create_app({"RIDEDASH_INSTANCE": str(tmp_path)})
    yield app.test_client()
    app.extensions["ridedash"].db.close()


def test_a_changed_added_or_renamed_file_changes_every_address(tmp_path: Path) -> None:
    seen = {written(tmp_path, {"a.css": "p {}", "b.css": ""}).digest}
    seen.add(written(tmp_path, {"a.css": "p {} "}).digest)
    seen.add(written(tmp_path, {"c.css": ""}).digest)
    (tmp_path / "c.css").rename(tmp_path / "d.css")
    seen.add(written(tmp_path, {}).digest)
    assert len(seen) == 4
    assert written(tmp_path, {".a.css.swp": "x"}).digest in seen


def test_imports_are_found_through_each_other_nearest_first_and_once(tmp_path: Path) -> None:
    imports = written(tmp_path, SCRIPTS).imports
    assert imports["js/page.js"] == ("js/one.js", "js/two.js", "js/deep/three.js")
    assert imports["js/two.js"] == ("js/one.js", "js/deep/three.js", "js/page.js")


def test_every_import_of_our_scripts_is_found() -> None:
    """Each script that is named after the word `from` or `import` is found."""
    files = read(ROOT / "static")
    for name, imports in files.imports.items():
        text = files.paths[name].read_text()
        static = re.findall(r'\b(?:from|import) "([^"]+)"', text)
        own = {(files.paths[name].parent / other).resolve() for other in static}
        assert own <= {files.paths[other].resolve() for other in imports}, name


def test_a_page_names_each_module_of_its_scripts_once_and_no_other(client: FlaskClient) -> None:
    page = client.get("/sign-in").text
    files = read(ROOT / "static")
    entries = re.findall(rf'<script[^>]*src="{files.prefix}([^"]+)"', page)
    named = re.findall(rf'<link rel="modulepreload" href="{files.prefix}([^"]+)"', page)
    assert entries
    wanted = {name for entry in entries for name in files.imports[entry]} - {*entries}
    assert sorted(named) == sorted(wanted)


def test_all_addresses_of_a_page_carry_the_digest(client: FlaskClient) -> None:
    for path in ("/sign-in", "/no/such/page", "/t/unknown"):
        addresses = re.findall(r'(?:href|src)="(/static/[^"#]+)', client.get(path).text)
        assert addresses
        for address in addresses:
            assert address.startswith(read(ROOT / "static").prefix), address
            with client.get(address) as answer:
                assert answer.headers["Cache-Control"] == "max-age=31536000, public, immutable"


@pytest.mark.parametrize("prefix", ["", "0123456789abcdef/"], ids=["none", "of another release"])
def test_an_address_of_another_release_answers_the_file_as_it_is_now(
    client: FlaskClient, prefix: str
) -> None:
    for name in (
        "js/shared/anew.js",
        "vendor/leaflet/leaflet.js",
        "vendor/leaflet/images/layers.png",
    ):
        with client.get(f"/static/{prefix}{name}") as answer:
            assert answer.data == read(ROOT / "static").paths[name].read_bytes()
            assert answer.headers["Cache-Control"] == "no-cache"  # browsers ask again each time
            seen = {"If-None-Match": answer.headers["ETag"]}
        with client.get(f"/static/{prefix}{name}", headers=seen) as again:
            assert again.status_code == 304


OTHERS = (
    "../app.py",
    "..%2f..%2fapp.py",
    "%2e%2e/app.py",
    "js/../../app.py",
    "/etc/passwd",
    "/%2fetc/passwd",
    "js",
    "js/",
    "",
    "vendor/leaflet/leaflet-src.js",
    "vendor/leaflet/../__init__.py",
    "js/shared/anew.js%00.css",
    "js/shared/anew.js/",
    "js\\shared\\anew.js",
    "css/shared/base.css.gz",
    "0123456789abcdef/0123456789abcdef/js/shared/anew.js",
)


def test_nothing_but_the_files_is_served(client: FlaskClient) -> None:
    for prefix in ("/static/", read(ROOT / "static").prefix, "/static/0123456789abcdef/"):
        for name in OTHERS:
            assert client.get(prefix + name).status_code in (308, 404), prefix + name


def test_the_files_of_the_director_are_left_out_without_a_demo(tmp_path: Path) -> None:
    names = "js/demo/stage.js", "css/demo/stage.css", "js/page.js", "css/demos.css"
    written(tmp_path, dict.fromkeys(names, ""))
    assert {name for name in read(tmp_path, demo=False).paths if "leaflet" not in name} == {
        "js/page.js",
        "css/demos.css",
    }
