"""The kiosk's scripts in Chromium, without a server: one document at a time."""

from typing import Any

import pytest

from tests.views.web.test_scripts_browser import page

__all__ = ["page"]
pytestmark = pytest.mark.browser

# each call of open() stands for a document: two open at the same time, a third after them
ALONE = """async (locks) => {
  if (!locks) Object.defineProperty(navigator, "locks", {value: undefined});
  const {alone} = await import("/static/js/kiosk/alone.js");
  const open = () => new Promise((done) => {
    alone(() => done("first"), () => done("second"));
  });
  const both = await Promise.all([open(), open()]);
  return [...both.sort(), await open()];
}"""


@pytest.mark.parametrize("locks", [True, False], ids=["by locks", "by a channel"])
def test_of_documents_that_open_at_the_same_time_one_is_the_first(page: Any, locks: bool) -> None:
    assert page.evaluate(ALONE, locks) == ["first", "second", "second"]
