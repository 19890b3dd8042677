"""Steps that a screen of the stage does by itself, so that the audience sees the words being typed.

The screen sends the form token of the run. Therefore the screen and the interpreter can't make two
orders, and the interpreter recognises what the screen has done.
"""

from typing import Any, Final

from ridedash.demo.stories import kiosk_actions
from ridedash.demo.stories.here import NotPlayed
from ridedash.demo.stories.model import Ask, Book, KioskBook, KioskLook, StageScreen, StoryStep
from ridedash.demo.stories.runs import RunPhase, StoryRun
from ridedash.extensions import services
from ridedash.store.orders import order_of_form

# screens of the stage that can type by themselves
TYPING: Final = frozenset({StageScreen.DESK, StageScreen.KIOSK})


def screen_of(step: StoryStep | None) -> str:
    """The screen that can do a step by itself; "" for none."""
    if step is None:
        return ""
    match step.do:
        case Book() | Ask():
            return StageScreen.DESK
        case KioskBook():
            return StageScreen.KIOSK
        case KioskLook() if step.show is StageScreen.KIOSK:
            return StageScreen.KIOSK
    return ""


def by_hand(run: StoryRun, step: StoryStep | None, shown: frozenset[str]) -> dict[str, Any] | None:
    """What one of the `shown` screens is to do for a step that is not taken yet; None for nothing.

    {"screen", "do": "book", "ask" or "look", and the words to type}.
    """
    if step is None or run.phase is not RunPhase.TODO or screen_of(step) not in shown:
        return None
    try:
        match step.do:
            case Book() | Ask():
                return _at_desk(run, step.do)
            case KioskBook():
                fields = kiosk_actions.fields_to_book(run, step.do)
                return None if fields is None else _at_kiosk("book", fields)
            case KioskLook():
                return _at_kiosk("look", kiosk_actions.fields_to_look(run, step.do))
    except NotPlayed:
        pass  # the interpreter reports the reason
    return None


def _at_kiosk(do: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"screen": StageScreen.KIOSK, "do": do} | fields


def _at_desk(run: StoryRun, action: Book | Ask) -> dict[str, Any] | None:
    fields = {"screen": StageScreen.DESK, "drop": action.to, "car": action.car}
    if isinstance(action, Ask):
        return fields | {"do": "ask"}
    if not action.typed or action.seats or action.account or action.language:
        return None  # not to be typed, or with fields that the screen doesn't fill in
    token = run.token(action.ride)
    with services().db.read() as s:
        if order_of_form(s, token) is not None:
            return None
    who = {"guest": action.guest, "room": action.room, "form_token": token}
    return fields | {"do": "book"} | who
