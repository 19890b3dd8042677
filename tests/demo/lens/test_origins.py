"""Which call last set an element: the newest answer that has the field."""

import json
from datetime import timedelta
from typing import Any

from ridedash.demo.lens.elements import ELEMENTS
from ridedash.demo.lens.operations import Ids
from ridedash.demo.lens.origins import OrderKeys, Origins, origins, resolved
from ridedash.demo.lens.store import RecordedCall, Side
from tests.demo.lens.answers import METERED, SHARE_PRICED, driven
from tests.views.ride_pages import NOON

MINI = OrderKeys("mini", None)


def call(number: int, operation: str, body: Any, age_s: float) -> RecordedCall:
    at = NOON - timedelta(seconds=age_s)
    return RecordedCall(
        number=number,
        turn=number,
        began=at,
        ended=at,
        operation=operation,
        method="GET",
        path="/",
        status=200,
        outcome="2xx",
        failed=False,
        failure="",
        result="",
        lane="",
        attempt=1,
        cause="",
        waited_ms=0.0,
        first_byte_ms=1.0,
        first_ms=1.0,
        ms=1.0,
        size=1,
        ids=Ids(),
        hint=None,
        answer=Side({}, body if isinstance(body, str) else json.dumps(body)),
    )


def fields(calls: list[RecordedCall], name: str, about: OrderKeys = MINI) -> list[dict[str, Any]]:
    by_number = {each.number: each for each in calls}
    made = Origins(calls, by_number.get, about)
    found: list[dict[str, Any]] = origins(made, NOON, "ride")[name]["fields"]
    return found


def test_the_newest_answer_that_has_the_field_is_named_with_its_age() -> None:
    over = {"booking_status": "COMPLETED", "vehicle_number": "KA01AB9999"}
    calls = [
        call(3, "track_ride", driven("CALL_DRIVER"), 90),
        call(7, "track_ride", over, 3),
        call(8, "track_ride", "no JSON", 1),
    ]
    plate = {"operation": "track_ride", "pointer": "/vehicle_number", "call": 7}
    assert fields(calls, "cab.plate") == [plate | {"raw": "KA01AB9999", "age": "just now"}]
    [left] = fields(calls, "driver.rating")
    assert (left["call"], left["raw"], left["age"]) == (3, 4.7, "1 min ago")


def test_an_element_of_several_fields_has_all_of_them() -> None:
    found = fields([call(1, "track_ride", driven("INVOICE"), 5)], "line.total")
    assert [each["pointer"].split("/")[-1] for each in found] == [
        *("fare", "service_tax", "toll_charges", "discount_value"),
    ]


def test_of_an_array_the_element_is_meant_that_is_about_the_order() -> None:
    both = {"categories": SHARE_PRICED["categories"] + METERED["categories"]}
    [found] = resolved("/categories/*/display_name", both, MINI)
    assert found == ("/categories/1/display_name", "Mini")
    [cost] = resolved("/ride_estimate/*/fares/*/cost", SHARE_PRICED, OrderKeys("share", 2))
    assert cost == ("/ride_estimate/0/fares/1/cost", 140)
    riders = {"passengers": [{"name": "Rider Wren"}, {"name": "Rider Finch"}]}
    assert len(list(resolved("/passengers/*/name", riders, MINI))) == len(riders["passengers"])


def test_what_is_ours_has_no_field_and_says_why() -> None:
    made = origins(Origins([], dict[int, RecordedCall]().get, MINI), NOON, "ride")
    assert made.keys() == {each.name for each in ELEMENTS if each.surface == "ride"}
    assert made["guest"] == {
        "how": "Ours: typed or chosen at the desk.",
        "ours": True,
        "fields": [],
    }
