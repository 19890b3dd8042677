"""On which day the times of a list are that stand without one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from ridedash.inputs import calendar_day
from ridedash.lists.columns import time_kind
from ridedash.lists.days import days_in, days_of, nearest
from ridedash.lists.lines import Here, in_order, is_now
from ridedash.lists.table import Field
from ridedash.rides.times.time_words import TimeWords
from ridedash.store.guest_lists import GuestList, ListLine
from ridedash.wording.typed_times import PickupTexts, TimeRefused


def with_days(
    found: GuestList, rows: Sequence[ListLine], texts: Mapping[int, Mapping[Field, str]], here: Here
) -> Here:
    """`here` with the day that a person has said, and with the days that the list names."""
    today = (here.written_at or here.now).astimezone(here.tz).date()
    said = str(found.sheet.get("day") or "")
    day = calendar_day(said)
    if time_kind(here.when, here.words) is Field.DAY:  # "5 dec" is no time of lines without one
        at = (here.when_at or here.now).astimezone(here.tz).date()
        of_when = days_of(in_order(here.when, here.date_order), at, here.words)
        day = day or min(of_when, default=None)
        here = replace(here, when="")
    days: set[date] = set()
    for row in rows:
        cells = [str(cell) for cell in row.data.get("cells", ()) if cell]
        time = in_order(texts[row.number].get(Field.TIME, ""), here.date_order)
        # what a person typed says nothing about the days of those who wrote the list
        if row.out is None and Field.TIME not in row.data.get("typed", {}):
            days |= days_of(time, today, here.words)
        if row.out is not None or len(cells) == 1:
            for cell in cells:
                days |= days_in(in_order(cell, here.date_order), today, here.words)
    return replace(here, day=day, days=nearest(days, here.now.astimezone(here.tz).date()))


def when_refused(text: str, now: datetime, tz: Any, words: TimeWords) -> str:
    """Why a text is no pickup time of lines without their own; "" for a time, a day, or now."""
    if not text or is_now(text) or time_kind(text, words) is Field.DAY:
        return ""
    try:
        PickupTexts(text, "", "").read(now, tz, words)
    except TimeRefused as error:
        return str(error)
    return ""


def set_day(found: GuestList, text: str) -> None:
    """Keep the day that a person has said for times of day alone; another text takes it back."""
    day = calendar_day(text)
    found.sheet = {**found.sheet, "day": day.isoformat() if day else ""}
