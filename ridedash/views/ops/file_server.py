"""Serves static files before Flask: compressed, and cacheable for a year.

Files are compressed once for each release, without their comments, into the instance folder. The
files of a replaced release stay there for a day, so that a page that was open during an update can
load its own modules until it is reloaded.
"""

import fcntl
import gzip
import logging
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
from wsgiref.headers import Headers

import brotli
from flask import Flask
from whitenoise import WhiteNoise
from whitenoise.compress import Compressor
from whitenoise.responders import StaticFile

from ridedash.extensions import Services
from ridedash.views.ops import static_files
from ridedash.views.ops.lean_files import lean
from ridedash.views.ops.static_files import StaticFiles

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

EXTENSION: Final = "file_server"  # the key of the FileServer in app.extensions
FOLDER: Final = "files"  # subfolder of the instance folder
KEEP_FOR: Final = timedelta(days=1)  # how long files of a replaced release are kept
# suffix of the file whose modification time says when a release was replaced
REPLACED: Final = ".replaced"
# headers that are not sent: the address changes with the content, so no browser has to ask again
VALIDATORS: Final = frozenset({"Last-Modified", "ETag"})
UNPACK: Final = {".gz": gzip.decompress, ".br": brotli.decompress}

log = logging.getLogger(__name__)


class FileServer(WhiteNoise):  # type: ignore[misc] # whitenoise ships no types
    """A WSGI middleware that serves static files and passes other requests on.

    At first it serves uncompressed files; `serve_compressed()` prepares compressed ones. `head` has
    headers for every file, besides those about its content.
    """

    FOREVER = 365 * 86_400  # seconds

    def __init__(self, app: "WSGIApplication", files: StaticFiles, head: Mapping[str, str]) -> None:
        super().__init__(
            app,
            allow_all_origins=False,
            immutable_file_test=lambda *_: True,
            add_headers_function=self._add_head,
        )
        self._head = head
        self._files = files
        for name, path in files.paths.items():
            self.add_file_to_dictionary(files.prefix + name, str(path))

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: object = None) -> None:
        """Serve a file; in live mode no file of the director, even if an earlier demo stored it."""
        if self._files.demo or not static_files.is_of_demo(url):
            super().add_file_to_dictionary(url, path, stat_cache=stat_cache)

    def _add_head(self, headers: Headers, _path: str, _url: str) -> None:
        for name, value in self._head.items():
            headers[name] = value

    def get_static_file(self, path: str, url: str, stat_cache: Any = None) -> StaticFile:
        """A file with its headers, except those with which browsers ask whether it has changed."""
        file = super().get_static_file(path, url, stat_cache)
        file.etag = file.last_modified = None
        file.alternatives = [
            (coding, form, [each for each in head if each[0] not in VALIDATORS])
            for coding, form, head in file.alternatives
        ]
        return file

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            try:
                return cast("Iterable[bytes]", super().__call__(environ, start))
            except FileNotFoundError:  # removed by a later release: Flask serves the present file
                pass
        return cast("Iterable[bytes]", self.application(environ, start))

    def serve_compressed(self, instance: Path, now: datetime) -> None:
        """Compress the files unless that is done; serve them, and those of replaced releases.

        If the folder can't be written, the files are served uncompressed.
        """
        folder = instance / FOLDER
        try:
            digests = _stored(self._files, folder, now)
        except OSError as error:
            log.warning("files go to browsers uncompressed: %s can't be written: %s", folder, error)
            return
        for digest in digests:
            self.add_files(str(folder / digest), f"{static_files.ROOT}{digest}/")


def init_app(app: Flask, files: StaticFiles, head: Mapping[str, str]) -> None:
    """Put the server before Flask."""
    server = app.extensions[EXTENSION] = FileServer(app.wsgi_app, files, head)
    app.wsgi_app = server  # type: ignore[method-assign]


def prepare(app: Flask) -> None:
    """Compress the files; called at the start of a process that serves pages."""
    services: Services = app.extensions["ridedash"]
    app.extensions[EXTENSION].serve_compressed(services.settings.instance, services.clock())


def _stored(files: StaticFiles, folder: Path, now: datetime) -> list[str]:
    """The digests of the releases in the folder; makes the present one's if it is missing."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".lock").open("a") as lock:
        # several processes of one machine may start at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_whole(files, folder / files.digest):
            _compress(files, folder)
        others = sorted(path for path in folder.iterdir() if path.is_dir())
        return [path.name for path in others if _keep_or_remove(path, files.digest, now)]


def _is_whole(files: StaticFiles, made: Path) -> bool:
    """Whether a folder has every file, with the right content, also in its compressed forms.

    After a power failure while the folder was written, it may contain empty files.
    """
    try:
        for name, path in files.paths.items():
            data = lean(name, path.read_bytes())
            if (made / name).read_bytes() != data:
                return False
            packed = [(made / (name + end), unpack) for end, unpack in UNPACK.items()]
            if any(form.exists() and unpack(form.read_bytes()) != data for form, unpack in packed):
                return False
    except (OSError, EOFError, zlib.error, brotli.error):
        return False
    return True


def _compress(files: StaticFiles, folder: Path) -> None:
    compressor = Compressor(quiet=True)
    with TemporaryDirectory(dir=folder, prefix=".", ignore_cleanup_errors=True) as made:
        for name, path in files.paths.items():
            copy = Path(made, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(lean(name, path.read_bytes()))
            if compressor.should_compress(name):
                compressor.compress(str(copy))
        shutil.rmtree(folder / files.digest, ignore_errors=True)
        os.rename(made, folder / files.digest)


def _keep_or_remove(stored: Path, digest: str, now: datetime) -> bool:
    """Whether to keep a folder: that of `digest`, and others for a day after they were replaced.

    Unfinished folders of killed processes are removed.
    """
    marker = stored.with_suffix(REPLACED)
    if stored.name == digest:
        marker.unlink(missing_ok=True)
        return True
    if static_files.is_digest(stored.name):
        if not marker.exists():
            marker.touch()
            os.utime(marker, (now.timestamp(), now.timestamp()))
        if now.timestamp() - marker.stat().st_mtime <= KEEP_FOR.total_seconds():
            return True
    shutil.rmtree(stored, ignore_errors=True)
    marker.unlink(missing_ok=True)
    return False
