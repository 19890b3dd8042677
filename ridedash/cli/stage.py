"""`ridedash up --demo-stage`: the stage of a demo, opened in a browser if there is one."""

import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from typing import Final

from ridedash.cli.errors import CommandError
from ridedash.config import Settings

ADDRESS: Final = "/demo/stage"
WITH_SCREEN: Final = ("darwin", "win32")  # systems on which every session has a screen
NO_DEMO: Final = "--demo-stage needs a demo: leave out RIDEDASH_MODE."
OTHER_SERVICE: Final = "--demo-stage needs the demo's own sandbox: leave out RIDEDASH_SERVICE_URL."


def require(settings: Settings) -> None:
    """Raise CommandError where there is no stage, before anything is started."""
    if not settings.demo:
        raise CommandError(NO_DEMO)
    if not settings.sandboxed:
        raise CommandError(OTHER_SERVICE)


def line(settings: Settings) -> str:
    """The line of the greeting with the address of the stage."""
    return f"  stage        {settings.public_url}{ADDRESS}"


def show(
    settings: Settings,
    environ: Mapping[str, str],
    open_: Callable[[str], bool] = webbrowser.open,
) -> threading.Thread | None:
    """Open the stage in the browser of this session, in a new thread; None without a screen.

    No one waits for the thread: with some browsers `open_` returns only when they are closed.
    """
    if sys.platform not in WITH_SCREEN and not {"DISPLAY", "WAYLAND_DISPLAY"} & environ.keys():
        return None
    address = settings.public_url + ADDRESS
    thread = threading.Thread(target=open_, args=(address,), name="browser", daemon=True)
    thread.start()
    return thread
