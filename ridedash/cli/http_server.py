"""The HTTP server of the dashboard, the sandbox and a worker's port: socket, limits and stop."""

import contextlib
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import waitress

from ridedash.cli.errors import CommandError
from ridedash.cli.http_requests import BODY_BYTES, IDLE_S, Channel

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

CONNECTIONS: Final = 1000  # open at the same time; waitress accepts no further one
OTHER_FILES: Final = 200  # open files that are not connections: database, service, logs
WANTED_FILES: Final = 4096  # the limit of open files that we ask the system for
AGAIN_S: Final = 0.2  # how often a stop that Python has ignored is raised again
CLEAN_UP_S: Final = 5  # how often to look for connections that have been idle for IDLE_S
HEADER_BYTES: Final = 32 * 1024  # all headers of a request together
NO_UPLOADS: Final[Mapping[str, int]] = {}


def make_server(
    app: "WSGIApplication",
    listening: socket.socket,
    threads: int,
    uploads: Mapping[str, int] = NO_UPLOADS,
) -> Any:
    """A waitress server on a listening socket; its `run()` serves until SystemExit or Ctrl-C.

    `uploads`: the bytes that a request to a path of the application may have, if it takes files.

    Headers of proxies are passed on, since the application decides which of them it believes
    (docs/security.md ASVS 4.1.3): waitress would remove them, and everybody behind a proxy would
    have the proxy's address. `poll()` serves file numbers above 1023, which `select()` can't.
    """
    server = waitress.create_server(
        app,
        sockets=[listening],
        threads=threads,
        ident=None,
        clear_untrusted_proxy_headers=False,
        connection_limit=_connection_limit(),
        asyncore_use_poll=True,
        channel_timeout=IDLE_S,
        cleanup_interval=CLEAN_UP_S,
        max_request_header_size=HEADER_BYTES,
        max_request_body_size=max(BODY_BYTES, *uploads.values(), 0),
    )
    server.channel_class = Channel
    server.adj.uploads = uploads  # for StrictParser
    return server


def _connection_limit() -> int:
    """CONNECTIONS, or fewer where the system allows the process fewer open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < WANTED_FILES:
        soft = WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, WANTED_FILES)
        with contextlib.suppress(ValueError, OSError):  # on failure the limit stays as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    allowed = CONNECTIONS if soft == resource.RLIM_INFINITY else soft - OTHER_FILES
    return max(OTHER_FILES // 2, min(CONNECTIONS, allowed))


def listen_patiently(host: str, port: int, setting: str, patience_s: float = 5.0) -> socket.socket:
    """Like listen(), but wait a little until the sandbox of a killed `up` has left the port."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        with contextlib.suppress(CommandError):
            return listen(host, port, setting)
        time.sleep(0.1)
    return listen(host, port, setting)


def listen(host: str, port: int, setting: str) -> socket.socket:
    """A listening socket. Raises CommandError, which names the setting, when the port is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise CommandError(
            f"cannot listen on {host}:{port} ({error.strerror}). Set {setting} to a free port."
        ) from None
    return listening


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """In the block SIGTERM raises SystemExit; after it SIGTERM is ignored, so that cleaning up is
    not cut off.

    Python ignores an exception that is raised while its garbage collector calls a callback: a
    single SystemExit might be lost. So SystemExit is raised again until the block is left.
    """
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _stop)
    report = sys.unraisablehook
    sys.unraisablehook = _unless_stopping(sys.unraisablehook)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.unraisablehook = report


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    raise SystemExit(0)


def _unless_stopping(report: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Report exceptions that Python ignores, except a stop, which is raised again."""

    def hook(ignored: Any) -> None:
        if not issubclass(ignored.exc_type, SystemExit):
            report(ignored)

    return hook
