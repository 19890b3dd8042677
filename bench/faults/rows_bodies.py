"""Bodies of answers: hostile bodies for every operation, bad fields, refusals of every kind.

Rows 8 to 10 of the fault matrix (docs/reliability.md 2).
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any, Final

import httpx

from bench.faults.bodies import NASTY, NUMBERS, answers, grown, nested
from bench.faults.hostile import ROUNDS, WORKER, Complaints, Liar, Trial
from bench.faults.scoreboard import Case, Verdict, row
from bench.faults.shop import Service, shop
from ridedash import wire
from ridedash.service.types.bookings import CreateBody
from ridedash.service.types.products import ProductList
from ridedash.service.types.tracking import Snapshot
from ridedash.wording import Audience, refusal
from tests.service.bodies import AUTO_COMPLETED, CREATED, PRODUCTS, RETRYING, SNAPSHOT

FAILURE: Final = {
    "status": "FAILURE",
    "code": "BOOKING_ALLOTED",
    "message": "A driver has accepted",
}
DONE: Final = {
    "status": "SUCCESS",
    "request_type": "BOOKING_CANCEL",
    "header": "SUCCESS",
    "text": "C1 is cancelled",
}
LABELS: Final = {
    "status": "SUCCESS",
    "driver_feedback_options": {str(n): ["Car Quality", "On time"] for n in range(1, 6)},
}
REAL: Final[dict[str, list[dict[str, Any]]]] = {
    "products": [PRODUCTS],
    "create": [CREATED, RETRYING, FAILURE | {"code": "INVALID_CITY"}],
    "track_ride": [
        SNAPSHOT,
        AUTO_COMPLETED,
        {"status": "SUCCESS", "booking_status": "ALLOTMENT_PENDING"},
    ],
    "options": [LABELS],
    **{name: [DONE, FAILURE] for name in ("abort", "drop_location", "cancel", "feedback")},
}


def _hostile(operation: str) -> Callable[[Case], Verdict]:
    def run(case: Case) -> Verdict:
        count = case.size(10_000, 300)
        service = Liar(operation, answers(case.rng, REAL[operation], count))
        with shop(case.folder, service.handle, durable=False) as desk, complaints() as logged:
            trial = Trial(desk, service, case.rng)
            for _ in range(count):  # a limit, in case a round consumes nothing
                if service.served >= count:
                    break
                trial.round()
        wrong = +(trial.wrong + logged)
        note = f"seed {case.seed}; {dict(wrong.most_common(5)) or 'nothing wrong'}"
        complete = service.served >= count and (operation != "track_ride" or trial.kept > 0)
        return Verdict(
            service.served,
            errors500=trial.errors500,
            ok=complete and not wrong,
            note=note,
            seed=case.seed,
        )

    return run


for _name in ROUNDS:
    row(8, f"Hostile answers: {_name}")(_hostile(_name))


@contextmanager
def complaints() -> Iterator[Counter[str]]:
    """Collect the errors that workers log during the block."""
    handler, logger = Complaints(), logging.getLogger(WORKER)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    try:
        yield handler.complaints
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = True


# The parsed fields that depend on a field of the body, where the names differ.
OWNS: Final[dict[str, set[str]]] = {
    "pickup_location": {"pickup"},
    "drop_location": {"drop"},
    "duration": {"eta"},
    "price_details": {"price"},
    "driver_lat": {"position"},
    "driver_lng": {"position"},
    "otp": {"otp", "otp_text"},
    "trip_info": {"trip"},
    "booking_timeout": {"booking_timeout_s"},
    "booking_timeout_unit": {"booking_timeout_s"},
    "retry": {"retry_timeout_s", "next_retry_time"},
    "eta": {"eta", "none_near"},
    "distance": {"nearest", "distance"},
    "time_unit": {"time_unit", "eta", "rate_cards"},
    "distance_unit": {"distance_unit", "nearest", "rate_cards"},
    "fare_breakup": {"rate_cards"},
    "cancellation_policy": {"cancellation"},
    "ride_later_enabled": {"ride_later"},
    "hotspot_pickup_points": {"pickup_point_ids"},
}
Reader = Callable[[dict[str, Any]], dict[str, Any]]


def _product(fields: dict[str, Any]) -> dict[str, Any]:
    """Parse a list of products whose first category has these fields.

    Returns its product, with another product as `beside` and the hotspot as `zone`.
    """
    body = PRODUCTS | {"categories": [fields, *PRODUCTS["categories"][1:]]}
    read = ProductList.from_wire(body).model_dump()
    products = {each["category"]: each for each in read["products"]}
    return products.get(PRODUCTS["categories"][0]["id"], {}) | {
        "beside": products.get("share"),
        "zone": read["hotspot"],
    }


READERS: Final[list[tuple[Reader, dict[str, Any]]]] = [
    (lambda body: Snapshot.from_wire(body).model_dump(), SNAPSHOT),
    (lambda body: Snapshot.from_wire(body).model_dump(), AUTO_COMPLETED),
    (lambda body: CreateBody.from_wire(body).model_dump(), CREATED),
    (lambda body: CreateBody.from_wire(body).model_dump(), RETRYING),
    (_product, PRODUCTS["categories"][0]),
]


@row(10, "A bad field takes nothing of the rest with it")
def one_bad_field(case: Case) -> Verdict:
    """Each field with each kind of error, compared with the body without that field.

    All other fields must be parsed to the same values.
    """
    wrong, tried = Counter[str](), 0
    for read, body in READERS:
        for name in body:
            without = read({key: value for key, value in body.items() if key != name})
            for bad in _bad_values(case):
                tried += 1
                spoilt = read(body | {name: bad})
                others = (spoilt.keys() | without.keys()) - OWNS.get(name, {name})
                if any(spoilt.get(key) != without.get(key) for key in others):
                    wrong[f"{name}={bad!r:.20}"] += 1
    note = (
        f"{len(READERS)} bodies; "
        f"{dict(wrong.most_common(3)) or 'no field took another one with it'}"
    )
    return Verdict(tried, ok=not wrong, note=note)


def _bad_values(case: Case) -> list[Any]:
    values: list[Any] = [
        *NASTY,
        *NUMBERS,
        None,
        True,
        False,
        [],
        {},
        [[]],
        {"value": []},
        [None] * 300,
        nested(15),
    ]
    return values + [grown(case.rng, 3) for _ in range(case.size(300, 10))]


CODES: Final = (
    *wire.CREATE_CODES,
    "banned_user",
    " Invalid City ",
    "NEVER_HEARD_OF",
    "X" * 200,
    "<b>NO</b>",
)
SHAPES: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "FAILURE, code and message": lambda code: {
        "status": "FAILURE",
        "code": code,
        "message": f"no: {code}",
    },
    "BOOKING_FAILED and code": lambda code: {"message": "BOOKING_FAILED", "code": code},
    "FAILURE without a code": lambda code: {"status": "FAILURE", "message": f"share: {code}"},
    "failure in small letters": lambda code: {
        "Status ": "failure",
        "CODE": code,
        "header": "Oops!",
        "text": "no",
    },
    "FAILURE and null ids": lambda code: {
        "status": "FAILURE",
        "code": code,
        "booking_id": None,
        "txn_id": "",
    },
}


@row(9, "Refusals: all codes, all shapes, HTTP 200/400/422/500")
def refusals(case: Case) -> Verdict:
    """Each refusal is REJECTED, and its page shows the reason."""
    wrong, errors, tried, silent = Counter[str](), 0, 0, 0
    service = Service()
    with shop(case.folder, service.handle, durable=False) as desk:
        browser = desk.browser()
        for status in (200, 400, 422, 500):
            for shape, body in SHAPES.items():
                for code in CODES:
                    if case.short and case.rng.random() > 0.3:
                        continue
                    tried += 1
                    desk.forget()
                    service.create.append(_answering(status, body(code)))
                    order = desk.order(desk.send())
                    if order.state != "REJECTED":
                        wrong[f"{order.state}: {shape}, HTTP {status}"] += 1
                    if case.short and tried % 3:
                        continue
                    page = browser.get(f"/rides/{order.id}")
                    errors += page.status_code == 500
                    silent += not _shows_reason(unescape(page.text), order.code, order.message)
        made = len(service.bookings)
    note = f"{dict(wrong.most_common(3)) or 'all REJECTED'}; {silent} pages without words"
    return Verdict(tried, errors500=errors, ok=not wrong and not silent and not made, note=note)


def _shows_reason(page: str, code: str | None, message: str | None) -> bool:
    words = refusal(code, Audience.STAFF, message=message)
    return words.why in page and words.quote in page


def _answering(status: int, body: dict[str, Any]) -> Callable[[dict[str, Any]], httpx.Response]:
    return lambda _body: httpx.Response(status, json=body)
