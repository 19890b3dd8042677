"""What a member of staff does in a browser, in words that each engine's own driver carries out."""

import abc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

from tests.engines.processes import Family

SILENT: Final = "/healthz"  # an address of a page without scripts
WAIT_S: Final = 30.0  # an upper bound for a condition on a busy machine, never a pause
KEYS: Final = {  # https://www.w3.org/TR/webdriver2/#keyboard-actions
    "Enter": "\ue007",
    "Tab": "\ue004",
    "Escape": "\ue00c",
    "Control": "\ue009",
    "ArrowDown": "\ue015",
    "ArrowUp": "\ue013",
}
SHOWN: Final = """
const [selector, words] = arguments;
return [...document.querySelectorAll(selector)].find(
  (each) => each.getClientRects().length && each.textContent.includes(words)) ?? null;
"""
PAGE: Final = """
const { activeElement: focused, body } = document;
const fields = [...document.querySelectorAll("input:not([type=hidden])")]
  .map((each) => `${each.id} has ${each.value.length} characters`);
return [location.href, document.readyState, `focus in ${focused?.id || focused?.tagName}`,
  ...fields, body?.innerText].join("\\n");
"""


class Engine(abc.ABC):
    """A running browser with one window. `home` is its folder, for its profile and its logs."""

    name: ClassVar[str]
    lost: ClassVar[tuple[type[Exception], ...]]
    """What the driver raises while the page is being replaced by the next one."""

    def __init__(self, family: Family) -> None:
        self.family = family

    @abc.abstractmethod
    def go(self, url: str) -> None:
        """Open an address; returns when the page is loaded."""

    @abc.abstractmethod
    def back(self) -> None:
        """The button Back."""

    @abc.abstractmethod
    def run(self, script: str, *given: Any) -> Any:
        """Run the body of a function in the page; `given` are its arguments."""

    @abc.abstractmethod
    def strike(self, *keys: str) -> None:
        """Press these keys one after the other, then release them in the reverse order."""

    @abc.abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Give the window this size in px."""

    @abc.abstractmethod
    def forget(self) -> None:
        """Remove all cookies."""

    @abc.abstractmethod
    def picture(self) -> bytes:
        """The window as a PNG."""

    @abc.abstractmethod
    def quit(self) -> None:
        """End the session; the processes are ended by `close`."""

    def close(self) -> None:
        """End the browser and every process that it started."""
        try:
            self.quit()
        finally:
            self.family.end()

    # ---- steps that are the same in each engine ----

    def press(self, chord: str) -> None:
        """One key, or several at once: "j", "Enter", "Control+Enter"."""
        self.strike(*(KEYS.get(key, key) for key in chord.split("+")))

    def type(self, words: str) -> None:
        """Type words where the focus is."""
        for letter in words:
            self.strike(letter)

    def click(self, selector: str, words: str = "") -> None:
        """Click the first visible element of this selector with these words, once it is there."""
        self.until(SHOWN, selector, words).click()

    def fill(self, selector: str, words: str) -> None:
        """Click a field and type into it."""
        self.click(selector)
        self.type(words)

    def until(self, script: str, *given: Any, within_s: float = WAIT_S) -> Any:
        """Wait until the script returns something true in the page; returns that."""
        return self._wait(lambda: self.run(script, *given), f"{script.strip()} {given}", within_s)

    def shows(self, selector: str, words: str = "") -> None:
        """Wait until there is a visible element of this selector with these words."""
        self.until(SHOWN, selector, words)

    def lacks(self, selector: str, words: str = "") -> bool:
        """Whether no element of this selector with these words is visible now."""
        return self.run(SHOWN, selector, words) is None

    def at(self, path: str) -> None:
        """Wait until this path is open and its scripts have run."""
        self.until(
            "return location.pathname === arguments[0] && document.readyState === 'complete';", path
        )

    def shot(self, path: Path) -> None:
        """Save a screenshot for people."""
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self.picture())

    def _wait(self, ask: Callable[[], Any], what: str, within_s: float) -> Any:
        until = time.monotonic() + within_s
        last: Exception | None = None
        while time.monotonic() < until:
            try:
                if found := ask():
                    return found
                last = None
            except self.lost as error:
                last = error
            time.sleep(0.03)
        raise AssertionError(
            f"{self.name}: not within {within_s:.0f} s: {what}\nThe page: {self._page()}"
        ) from last

    def _page(self) -> str:
        """The address and the text of the page, for the message of a failure."""
        try:
            return str(self.run(PAGE))
        except self.lost as error:
            return f"unknown: {error!r}"
