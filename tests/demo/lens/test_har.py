"""The HTTP archive of a ride has the shape of HAR 1.2, with the fields that readers rely on."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ridedash.demo.lens.exports import Origin, har
from ridedash.service_time import ServiceTime
from tests.demo.lens.exchanges import CREATE, exchange, poll, recorder

LOG = {"version": str, "creator": dict, "entries": list, "pages": list, "comment": str}
ENTRY = {
    "startedDateTime": str,
    "time": (int, float),
    "request": dict,
    "response": dict,
    "cache": dict,
    "timings": dict,
    "comment": str,
}
SIDE = {"httpVersion": str, "cookies": list, "headers": list, "headersSize": int, "bodySize": int}
REQUEST = SIDE | {"method": str, "url": str, "queryString": list}
RESPONSE = SIDE | {"status": int, "statusText": str, "content": dict, "redirectURL": str}
CONTENT = {"size": int, "mimeType": str, "text": str}
TIMED = ("send", "wait", "receive")  # the other timings may be absent
ROUNDED_MS = 0.05


def has(found: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for name, kind in fields.items():
        assert isinstance(found[name], kind), name


def test_an_archive_has_the_fields_and_times_of_har_1_2(tmp_path: Any) -> None:
    lens = recorder(tmp_path)
    lens.exchange(exchange(CREATE, {"booking_id": "CRN1"}, json={"category": "mini"}))
    lens.exchange(poll(driver_lat=1)._replace(total_s=0.9, waited_s=0.7, first_byte_s=0.15))
    lens.exchange(poll(driver_lat=2)._replace(total_s=0.03))
    failed = exchange(failure="no answer (ReadTimeout)", outcome="timeout", total_s=5.0)
    lens.exchange(failed._replace(waited_s=0.2))  # `total_s` includes this wait
    lens.exchange(exchange(status=418, outcome="4xx", total_s=0.211)._replace(waited_s=0.2))
    assert lens.flush(60)
    calls = [lens.file.call(each.number) for each in lens.file.calls(None, False, 0, 9)]
    made = har(
        [each for each in calls if each], Origin("Demo", "http://host/tunnel", ServiceTime())
    )
    log = json.loads(made)["log"]
    has(log, LOG)
    has(log["creator"], {"name": str, "version": str})
    assert (log["version"], len(log["entries"])) == ("1.2", 5)
    for entry in log["entries"]:
        has(entry, ENTRY)
        has(entry["request"], REQUEST)
        has(entry["response"], RESPONSE)
        has(entry["response"]["content"], CONTENT)
        for pair in (*entry["request"]["headers"], *entry["request"]["queryString"]):
            has(pair, {"name": str, "value": str})
        assert datetime.fromisoformat(entry["startedDateTime"]).tzinfo is not None
        assert all(entry["timings"][name] >= 0 for name in TIMED)
        supplied = sum(each for each in entry["timings"].values() if each >= 0)
        assert abs(supplied - entry["time"]) < ROUNDED_MS, entry["timings"]
    assert [each["time"] for each in log["entries"][1:3]] == [900, 30]
    sent = [each["request"].get("postData") for each in log["entries"]]
    assert sent == [{"mimeType": "application/json", "text": '{"category":"mini"}'}, *[None] * 4]
