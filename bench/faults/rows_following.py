"""Answers to polls: odd statuses, answers out of order, reduced answers at the end.

Rows 16 to 18 of the fault matrix (docs/reliability.md 2).
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from bench.faults.scoreboard import Case, Verdict, row
from ridedash import wire
from ridedash.rides.tracking.merge import UNKNOWN_STATUS, RideState, merge, rank
from ridedash.service.types.tracking import Snapshot
from ridedash.wire import Kind
from tests.rides.desk_world import START
from tests.service.bodies import SNAPSHOT

TAXI: Final = (
    "ALLOTMENT_PENDING",
    "CALL_DRIVER",
    "CLIENT_LOCATED",
    "INVOICE",
    "IN_PROGRESS",
    "COMPLETED",
)
AUTO: Final = (
    "PENDING",
    "ALLOTMENT_RETRYING",
    "CALL_DRIVER",
    "IN_PROGRESS",
    "INVOICE",
    "COMPLETED",
)
ODD: Final[tuple[Any, ...]] = (
    "XYZ",
    "DRIVER_HAS_TEA",
    "",
    " ",
    None,
    7,
    0,
    [],
    ["CALL_DRIVER"],
    {},
    True,
    "\u202e",
    "x" * 9999,
)
REDUCED: Final = (
    "status",
    "request_type",
    "booking_id",
    "pickup_location",
    "drop_location",
    "price_details",
)
CAB: Final = ("driver_name", "driver_number", "vehicle_type", "vehicle_number", "vehicle_color")
PRESERVED: Final = (
    "driver_name",
    "vehicle_number",
    "price",
    "route",
    "passengers",
    "share_ride_url",
    "pickup",
    "drop",
)


def _snapshot(kind: Kind, status: Any) -> Snapshot:
    """A snapshot with a status: reduced before a driver accepts and at the end, else full."""
    names: Iterable[str] = SNAPSHOT
    if status == "COMPLETED":
        names = (*REDUCED, *CAB)
    elif status in (*wire.SEARCHING, *wire.TERMINAL):
        names = REDUCED[:3]
    body = {name: SNAPSHOT[name] for name in names} | {"booking_status": status}
    if status != "CALL_DRIVER":  # the list of passengers is full once, then empty
        body["passengers"] = []
    if status not in ("CLIENT_LOCATED", "INVOICE") or kind is Kind.AUTO:
        body.pop("otp", None)
    return Snapshot.from_wire(body)


@row(16, "A status that is unknown, missing, a number, a list")
def odd_status(_case: Case) -> Verdict:
    """The last known status is kept; an unknown word is shown as reported, and alarms once."""
    tried, wrong = 0, Counter[str]()
    for kind in Kind:
        for status in AUTO if kind is Kind.AUTO else TAXI:
            before = merge(
                RideState(kind, booking_id="SHR1"), _snapshot(kind, status), 1, START
            ).ride
            for odd in ODD:
                tried += 1
                body = SNAPSHOT | {"booking_status": odd}
                first = merge(before, Snapshot.from_wire(body), 2, START)
                second = merge(first.ride, Snapshot.from_wire(body), 3, START)
                alarms = [
                    each
                    for once in (first, second)
                    for each in once.events
                    if each.name == UNKNOWN_STATUS
                ]
                word = isinstance(odd, str) and bool(odd.strip(" \u202e"))
                wrong[f"{odd!r:.20} moved {status}"] += second.ride.status != before.status
                wrong[f"{odd!r:.20} alarms"] += len(alarms) != word
                wrong[f"{odd!r:.20} shown"] += bool(second.ride.reported) != word
    return Verdict(tried, ok=not +wrong, note=str(dict(+wrong) or "the last state stays"))


@row(17, "Answers out of order, twice, of a replica behind")
def out_of_order(case: Case) -> Verdict:
    """Random sequences: no older answer changes anything, no ride leaves its final status."""
    tries, wrong = case.size(20_000, 1_000), Counter[str]()
    for _ in range(tries):
        for fault in _sequence(case.rng):
            wrong[fault] += 1
    note = f"seed {case.seed}; {dict(wrong) or 'every rule held in every step'}"
    return Verdict(tries, ok=not wrong, note=note, seed=case.seed)


def _sequence(rng: random.Random) -> list[str]:
    kind = rng.choice(list(Kind))
    order = (
        AUTO
        if kind is Kind.AUTO
        else tuple(s for s in TAXI if kind is Kind.SHARE or s != "INVOICE")
    )
    true = sorted(rng.choices(range(len(order)), k=rng.randrange(3, 12)))
    polls = [
        (seq, order[max(0, at - rng.choice((0, 0, 0, 1, 2)))]) for seq, at in enumerate(true, 1)
    ]
    polls += rng.choices(polls, k=rng.randrange(3))
    for _ in range(rng.randrange(4)):
        i = rng.randrange(len(polls) - 1)
        polls[i], polls[i + 1] = polls[i + 1], polls[i]
    ride, faults = RideState(kind, booking_id="SHR1"), []
    for step, (seq, status) in enumerate(polls):
        after = merge(ride, _snapshot(kind, status), seq, START + timedelta(seconds=step)).ride
        faults += _broken(ride, after, seq, status)
        ride = after
    for seq in (len(true) + 1, len(true) + 2):
        ride = merge(ride, _snapshot(kind, "COMPLETED"), seq, START + timedelta(seconds=99)).ride
    return faults + ([] if ride.status == "COMPLETED" else [f"ended as {ride.status}"])


def _broken(before: RideState, after: RideState, seq: int, status: str) -> list[str]:
    """The rules that one step violates."""
    if seq <= before.merged_seq:
        return [] if after == before else ["an older answer changed something"]
    faults = [] if after.merged_seq == seq else ["the number of the poll"]
    if before.status in wire.TERMINAL and after.status != before.status:
        faults.append("an end did not stay")
    back = rank(before.kind, after.status) < rank(before.kind, before.status)
    retry = after.status == wire.ALLOTMENT_RETRYING and not before.retried
    if back and before.back_status != status and not retry:
        faults.append("a step back at first sight")
    if after.otp and after.status not in wire.MAY_HAVE_OTP:
        faults.append("a start code outlived its state")
    searching = after.status in wire.SEARCHING
    lost = [name for name in PRESERVED if _has(before, name) and not _has(after, name)]
    if lost and not searching:
        faults.append(f"erased: {lost[0]}")
    return faults


def _has(ride: RideState, name: str) -> bool:
    return bool(getattr(ride.facts, name))


@row(18, "The reduced answer of the end; passengers that go empty")
def reduced(_case: Case) -> Verdict:
    """Details of car, driver, route and passengers survive an answer without them."""
    wrong = Counter[str]()
    for kind in Kind:
        order = AUTO if kind is Kind.AUTO else TAXI
        ride = RideState(kind, booking_id="SHR1")
        for seq, status in enumerate(order, 1):
            snapshot = _snapshot(kind, status)
            if status == "CALL_DRIVER":
                snapshot = Snapshot.from_wire(SNAPSHOT | {"booking_status": status})
            ride = merge(ride, snapshot, seq, START).ride
        bare = Snapshot.from_wire(
            {"status": "SUCCESS", "booking_id": "SHR1", "booking_status": "COMPLETED"}
        )
        last = merge(ride, bare, 99, START).ride
        for name in PRESERVED:
            wrong[f"{kind}: {name}"] += not _has(last, name) or getattr(
                last.facts, name
            ) != getattr(ride.facts, name)
        wrong[f"{kind}: passengers"] += last.facts.passengers != ("Guest Heron",)
        wrong[f"{kind}: start code"] += last.otp is not None
        wrong[f"{kind}: status"] += replace(last, merged_seq=0).status != "COMPLETED"
    return Verdict(
        len(Kind) * len(TAXI), ok=not +wrong, note=str(dict(+wrong) or "every fact survives")
    )
