"""The files that browsers load: ours, and Leaflet's from the wheel django-js-lib-leaflet.

Each address contains a digest of all files, /static/<digest>/css/board/board.css: an update changes
every address, so a browser may cache a file for a year. Relative addresses in modules and style
sheets contain the digest automatically. views/ops/file_server.py answers these addresses.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, current_app, send_file

from ridedash.views.web.permissions import SHARED, needs

EXTENSION: Final = "static_files"  # the key of the StaticFiles in app.extensions
ROOT: Final = "/static/"
LEAFLET: Final = "vendor/leaflet/"
LEAFLET_FILES: Final = (  # nothing else in the wheel is served
    "leaflet.js",
    "leaflet.css",
    "images/layers.png",
    "images/layers-2x.png",
    "images/marker-icon.png",
    "images/marker-icon-2x.png",
    "images/marker-shadow.png",
)
DEMO_FOLDER: Final = "demo"  # folders of the director: js/demo, css/demo
DIGEST_CHARS: Final = 16
_DIGEST: Final = re.compile(rf"[0-9a-f]{{{DIGEST_CHARS}}}")
# import … from "./x.js", import "./x.js" and export … from "./x.js", as oxfmt writes them; import()
# is not included, because such modules are loaded later on purpose
_IMPORT: Final = re.compile(
    r"""^(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*"(\.\.?/[^"]+)";?$""", re.MULTILINE
)


@dataclass(frozen=True)
class StaticFiles:
    """All files by name, such as "css/board/board.css", and the digest of names and contents.

    `imports`: for each module all modules that it imports, directly or indirectly, nearest first.
    """

    digest: str
    paths: Mapping[str, Path]
    imports: Mapping[str, tuple[str, ...]]
    demo: bool = True  # whether the files of the director are included

    @property
    def prefix(self) -> str:
        """The prefix of the addresses of all files."""
        return f"{ROOT}{self.digest}/"

    def address(self, name: str) -> str:
        """The address of one of these files."""
        return self.prefix + name


@lru_cache
def read(folder: Path, *, demo: bool = True) -> StaticFiles:
    """The files that this process serves, read once: changes are seen after a restart.

    Without `demo` the files of the director (its folders) are left out.
    """
    paths = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    if not demo:
        paths = {name: path for name, path in paths.items() if not is_of_demo(name)}
    paths |= {LEAFLET + name: leaflet() / name for name in LEAFLET_FILES}
    digest = hashlib.blake2b(digest_size=DIGEST_CHARS // 2)
    for name, path in paths.items():
        data = path.read_bytes()
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    direct = {
        name: _imports(name, path.read_text())
        for name, path in paths.items()
        if name.endswith(".js") and not name.startswith(LEAFLET)
    }
    imports = {name: tuple(_all_imports(name, direct)) for name in direct}
    return StaticFiles(digest.hexdigest(), paths, imports, demo)


def is_of_demo(name: str) -> bool:
    """Whether a file, or the address of a file, is the director's."""
    return DEMO_FOLDER in name.split("/")


def is_digest(word: str) -> bool:
    """Whether a folder or a part of an address is the digest of some release."""
    return _DIGEST.fullmatch(word) is not None


def leaflet() -> Path:
    """The folder of the wheel's files; the package itself (a Django app) is not imported."""
    spec = find_spec("js_lib_leaflet")
    if spec is None or spec.origin is None:
        raise RuntimeError("django-js-lib-leaflet is not installed: maps need its copy of Leaflet.")
    return Path(spec.origin).parent / "static" / "js_lib_leaflet"


def _imports(name: str, script: str) -> list[str]:
    """The names of the modules that a module imports directly."""
    folder = posixpath.dirname(name)
    return [posixpath.normpath(f"{folder}/{other}") for other in _IMPORT.findall(script)]


def _all_imports(name: str, direct: Mapping[str, list[str]]) -> Iterator[str]:
    """The direct imports of a module, then the indirect ones, each once."""
    seen = {name}
    waiting = [name]
    while waiting:
        for other in direct[waiting.pop(0)]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
                yield other


def init_app(app: Flask, files: StaticFiles) -> None:
    """Let `url_for("static", filename=…)` add the digest; give templates `preloads()`.

    A page refers to a hundred files (icons and modules), so templates get the address of a known
    file without the router.
    """
    app.extensions[EXTENSION] = files
    app.add_url_rule(f"{ROOT}<path:filename>", "static", show)
    app.add_template_global(preloads)

    @app.url_defaults
    def carry_digest(endpoint: str, values: dict[str, object]) -> None:
        if endpoint == "static":
            values["filename"] = f"{files.digest}/{values['filename']}"

    @app.template_global()
    def url_for(endpoint: str, **values: Any) -> str:
        if endpoint == "static" and values.keys() == {"filename"}:
            name = values["filename"]
            if name in files.paths:
                return files.address(name)
        return app.url_for(endpoint, **values)


@needs(SHARED)
def show(filename: str) -> Response:
    """Serve the present file to a page that is older or younger than this process.

    Only addresses that views/ops/file_server.py does not know get here: those of another release
    (the page came from another process behind a load balancer, or has been open for days), and
    those without a digest. These answers are not cached for a year: a browser revalidates them on
    each use.
    """
    first, _, rest = filename.partition("/")
    name = rest if is_digest(first) else filename
    path = current_app.extensions[EXTENSION].paths.get(name)
    if path is None:
        abort(404)
    return send_file(path)


def preloads(entries: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """The addresses of all modules that entries (such as "board/main") import, without the entries.

    Modules in `known`, and their imports, are left out. A browser discovers an import only when it
    has the importing module; modules named in the head are fetched at once.
    """
    files: StaticFiles = current_app.extensions[EXTENSION]
    modules, others = ([f"js/{name}.js" for name in names] for names in (entries, known))
    wanted = dict.fromkeys(other for name in modules for other in files.imports[name])
    there = {*modules, *others}.union(*(files.imports[name] for name in others))
    return [files.address(name) for name in wanted if name not in there]
