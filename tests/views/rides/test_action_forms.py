"""Texts of the small forms of a ride page are cleaned as they come in, before they are stored."""

import pytest
from werkzeug.datastructures import MultiDict

from ridedash.geo import LatLng
from ridedash.places import geocoder_for
from ridedash.service.transport.http import Http
from ridedash.views.rides.action_forms import (
    FormError,
    cancel_reason,
    feedback,
    new_drop,
    not_booked_reason,
)

STACKED = "Z" + "\u0300" * 90 + "oe\u202e"
CLEAN = "Z\u0300\u0300oe"


def test_stacked_marks_and_turned_text_are_cut_before_they_are_stored() -> None:
    assert cancel_reason(MultiDict({"reason": STACKED})) == CLEAN
    assert not_booked_reason(MultiDict({"reason": STACKED})) == CLEAN
    _stars, labels, comment = feedback(
        MultiDict({"rating": "5", "option-5": STACKED, "comments": f"{STACKED}\n\n{STACKED}"})
    )
    assert (labels, comment) == ([CLEAN], f"{CLEAN}\n\n{CLEAN}")
    http = Http()
    try:
        form = MultiDict({"name": STACKED, "lat": "-38.5", "lng": "-128"})
        places = geocoder_for("sandbox", "http://127.0.0.1:9", http)
        assert new_drop(form, places, (-38.5, -128.0)) == (LatLng(-38.5, -128.0), CLEAN)
    finally:
        http.close()


def test_a_label_of_the_service_is_sent_whole_or_not_at_all() -> None:
    """A label that the page offers has 300 characters at most, like every text of the service."""
    label = "It was late. " * 23 + "!"
    assert len(label) == 300
    form = MultiDict({"rating": "2", "option-2": label})
    assert feedback(form) == (2, [label], None)
    form["option-2"] = label + "!"
    with pytest.raises(FormError, match="Use 300 characters at most"):
        feedback(form)
