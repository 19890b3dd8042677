"""`ridedash up --demo-stage`: the stage of a demo, opened in a browser where there is one."""

import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from typing import Final

from ridedash.cli.errors import CommandError
from ridedash.config import Settings

ADDRESS: Final = "/demo/stage"
OTHERS: Final = ("darwin", "win32")  # systems on which every session has a screen
NO_STAGE: Final = "--demo-stage needs a demo on its own sandbox: leave out RIDEDASH_MODE."


def require(settings: Settings) -> None:
    """Raise CommandError where there is no stage, before anything is started."""
    if not settings.demo:
        raise CommandError(NO_STAGE)


def line(settings: Settings) -> str:
    """The line of the greeting that says where the stage is."""
    return f"  stage        {settings.public_url}{ADDRESS}"


def show(
    settings: Settings,
    environ: Mapping[str, str],
    open_: Callable[[str], bool] = webbrowser.open,
) -> threading.Thread | None:
    """Open the stage in the browser of this session; None where it has no screen.

    Some browsers answer only once they are closed: that is waited for by nobody.
    """
    if sys.platform not in OTHERS and not {"DISPLAY", "WAYLAND_DISPLAY"} & environ.keys():
        return None
    address = settings.public_url + ADDRESS
    thread = threading.Thread(target=open_, args=(address,), name="browser", daemon=True)
    thread.start()
    return thread
