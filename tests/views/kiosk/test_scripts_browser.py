"""The kiosk's scripts in Chromium, without a server: one document at a time, a visit's report."""

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


# the screens that two attempts to book report, when the visit ends in each
TWO_TRIES = """async () => {
  const {Visit} = await import("/static/js/kiosk/visit.js");
  const visit = new Visit("en", 0);
  for (const screen of ["where", "car", "who", "check", "sending", "sorry"]) visit.go(screen);
  const first = visit.tally("left", 0).screen;
  visit.anew(["start", "where"]);
  for (const screen of ["car", "who", "check", "sending"]) visit.leap(screen);
  return [first, visit.tally("lost", 0).screen];
}"""


def test_a_visit_reports_how_far_its_last_attempt_came(page: Any) -> None:
    """Else the ticket of its order would count as told, because an earlier attempt was."""
    assert page.evaluate(TWO_TRIES) == ["sorry", "sending"]
