"""Debian's Firefox ESR without a window, driven over its own Marionette port."""

import json
import shutil
import time
import warnings
from pathlib import Path
from typing import Any, Final

from tests.engines.engine import SILENT, WAIT_S, Engine
from tests.engines.processes import Family

with warnings.catch_warnings():  # marionette_driver imports old libraries for telephones
    warnings.simplefilter("ignore", DeprecationWarning)
    from marionette_driver.errors import MarionetteException
    from marionette_driver.geckoinstance import DesktopInstance, GeckoInstance
    from marionette_driver.marionette import Marionette

PROGRAM: Final = "firefox-esr"
PREFERENCES: Final = {  # beside those that Mozilla recommends for tests
    "marionette.port": 0,  # a free one; it is in the file MarionetteActivePort of the profile
    # without a window Firefox has no pointer; this claims a mouse: 2 (fine) + 4 (hover)
    "ui.primaryPointerCapabilities": 6,
    "ui.allPointerCapabilities": 6,
    # pages are dark, so that the map by night is tested too
    "layout.css.prefers-color-scheme.content-override": 0,
    "toolkit.legacyUserProfileCustomizations.stylesheets": True,
}
NARROW: Final = ":root { min-width: 0 !important; }"  # a window may be as narrow as a phone


class Firefox(Engine):
    """Firefox with a profile of its own."""

    name = "Firefox"
    lost = (MarionetteException,)

    def __init__(self, home: Path) -> None:
        super().__init__(Family(home))
        profile = home / "profile"
        (profile / "chrome").mkdir(parents=True)
        (profile / "chrome" / "userChrome.css").write_text(NARROW)
        wanted = GeckoInstance.required_prefs | DesktopInstance.desktop_prefs | PREFERENCES
        (profile / "user.js").write_text(
            "".join(
                f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
                for name, value in wanted.items()
            )
        )
        program = shutil.which(PROGRAM)
        if program is None:
            raise FileNotFoundError(f"{PROGRAM} is not installed")
        try:
            self.family.start(
                [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
            )
            self.driver = Marionette(host="127.0.0.1", port=self._port(profile))
            self.driver.start_session()
        except BaseException:
            self.family.end()
            raise

    def _port(self, profile: Path) -> int:
        written = profile / "MarionetteActivePort"
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            if written.exists() and (text := written.read_text()):
                return int(text)
            time.sleep(0.03)
        raise RuntimeError(f"{PROGRAM} opened no port: {self.family.log(PROGRAM).name}")

    def go(self, url: str) -> None:
        self.driver.navigate(url)

    def back(self) -> None:
        self.driver.go_back()

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, script_args=given, sandbox=None)

    def strike(self, *keys: str) -> None:
        actions = self.driver.actions.sequence("key", "keyboard")
        for key in keys:
            actions.key_down(key)
        for key in reversed(keys):
            actions.key_up(key)
        actions.perform()

    def resize(self, width: int, height: int) -> None:
        self.driver.set_window_rect(width=width, height=height)

    def forget(self) -> None:
        # a page that asks the server meanwhile would be given a new session behind the next one
        self.go(f"{self.run('return location.origin')}{SILENT}")
        self.driver.delete_all_cookies()

    def picture(self) -> bytes:
        return bytes(self.driver.screenshot(format="binary", full=False))

    def quit(self) -> None:
        self.driver.delete_session()
