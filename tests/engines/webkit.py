"""Debian's WebKitGTK in its small browser, on an X server without a screen, over WebDriver."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

from tests.engines.engine import SILENT, Engine
from tests.engines.processes import Family

DRIVER: Final = "WebKitWebDriver"
SCREEN: Final = "Xvfb"
# shrinks the tool bar: a window can't be narrower, and a page should have the 390 px of a phone
NARROW: Final = "* { margin: 0; padding: 0; border-width: 0; min-width: 0; font-size: 1px; }"


def browser() -> str | None:
    """WebKitGTK's small browser, which comes with its library."""
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    return str(found[-1]) if found else None


class WebKit(Engine):
    """WebKitGTK on an X server of its own."""

    name = "WebKit"
    lost = (WebDriverException,)

    def __init__(self, home: Path) -> None:
        super().__init__(Family(home))
        missing = [name for name in (DRIVER, SCREEN) if shutil.which(name) is None]
        program = browser()
        if missing or program is None:
            raise FileNotFoundError(f"not installed: {missing or 'MiniBrowser'}")
        style = home / "gtk-3.0" / "gtk.css"
        style.parent.mkdir()
        style.write_text(NARROW)
        options = Options()
        options.binary_location = program
        options.add_argument("--automation")
        options.add_argument("--dark-mode")  # so that the map by night is tested too
        try:
            display = {"DISPLAY": self._display(), "GTK_A11Y": "none", "NO_AT_BRIDGE": "1"}
            self.service = Service(
                executable_path=str(shutil.which(DRIVER)),
                log_output=str(home / f"{DRIVER}.log"),
                env=self.family.environ | display,
            )
            self.service.start()
            address = ClientConfig(remote_server_addr=self.service.service_url)
            self.driver = webdriver.Remote(RemoteConnection(client_config=address), options=options)
        except BaseException:
            self.family.end()
            raise

    def _display(self) -> str:
        """Start the X server; it chooses a free number."""
        readable, writable = os.pipe()
        with os.fdopen(readable) as answer:
            screen = ["-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
            self.family.start([SCREEN, "-displayfd", str(writable), *screen], pass_fds=[writable])
            os.close(writable)
            return f":{int(answer.readline())}"

    def go(self, url: str) -> None:
        self.driver.get(url)

    def back(self) -> None:
        self.driver.back()

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def strike(self, *keys: str) -> None:
        actions = ActionChains(self.driver, duration=0)
        for key in keys:
            actions.key_down(key)
        for key in reversed(keys):
            actions.key_up(key)
        actions.perform()

    def resize(self, width: int, height: int) -> None:
        self.driver.set_window_size(width, height)

    def forget(self) -> None:
        # a page that asks the server meanwhile would be given a new session behind the next one
        self.go(f"{self.run('return location.origin')}{SILENT}")
        self.driver.delete_all_cookies()

    def picture(self) -> bytes:
        return bytes(self.driver.get_screenshot_as_png())

    def quit(self) -> None:
        self.driver.quit()
        self.service.stop()
