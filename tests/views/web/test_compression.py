"""Compressed pages: which requests get them, and that their length gives nothing away."""

import gzip
import re

import pytest
from werkzeug.test import TestResponse

from ridedash.views.web.compression import padded_gzip
from tests.views.ride_pages import Desk, token, token_of_page

pytestmark = pytest.mark.database
# nonces, tokens and the marks of sign-ins differ each time
ANEW = re.compile(rb'(nonce|content|value|sign-in)="[\w.-]{16,}"')


def get(desk: Desk, path: str, site: str = "", encoding: str = "gzip, br") -> TestResponse:
    head = {"Accept-Encoding": encoding} | ({"Sec-Fetch-Site": site} if site else {})
    return desk.client().get(path, headers=head)


def test_a_page_that_no_other_site_requested_is_compressed(desk: Desk) -> None:
    uncompressed = get(desk, "/")
    for site in ("none", "same-origin"):
        packed = get(desk, "/", site)
        assert packed.headers["Content-Encoding"] == "gzip"
        assert len(packed.data) * 3 < len(uncompressed.data)
        assert ANEW.sub(b"", gzip.decompress(packed.data)) == ANEW.sub(b"", uncompressed.data)


@pytest.mark.parametrize("site", ["", "cross-site", "same-site", "SAME-ORIGIN", "none, none"])
def test_a_page_to_which_another_site_leads_stays_as_it_is(desk: Desk, site: str) -> None:
    answer = get(desk, "/?view=map", site)
    assert "Content-Encoding" not in answer.headers
    assert {"Accept-Encoding", "Sec-Fetch-Site"} <= set(answer.headers["Vary"].split(", "))


def test_polls_forms_and_browsers_without_gzip_get_what_they_got(desk: Desk) -> None:
    for path, encoding in (("/board.json", "gzip"), ("/", "br"), ("/", "gzip;q=0")):
        assert "Content-Encoding" not in get(desk, path, "same-origin", encoding).headers
    client = desk.client()
    head = {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"}
    form = {"csrf_token": token(client)}
    refused = client.post("/rides/new", data=form, headers=head)
    assert refused.status_code == 422
    assert "Content-Encoding" not in refused.headers


def test_no_address_chooses_a_word_of_the_board(desk: Desk) -> None:
    page = get(desk, "/?view=QXZ&q=QXZ&guest=QXZ&drop=QXZ&show=QXZ&lang=QXZ&said=QXZ&ride=QXZ")
    assert page.status_code == 200
    assert b"QXZ" not in page.data


def test_the_length_of_the_same_page_is_chance(desk: Desk) -> None:
    body = get(desk, "/").data
    packed = [padded_gzip(body) for _ in range(40)]
    assert {gzip.decompress(each) for each in packed} == {body}
    assert len({len(each) for each in packed}) > 5


def test_what_stays_the_same_in_a_form_token_opens_no_form(desk: Desk) -> None:
    """A token's signature is for the second in which its page was made, and is never used again."""
    client = desk.client()
    same, second, signature = token_of_page(client, "/").rsplit(".", 2)
    changed = "A" if second[-1] != "A" else "B"
    guessed = ".".join([same, second[:-1] + changed, signature])
    order_id = desk.order("SCHEDULED")
    for wrong in (same, guessed, f"{same}.{second}"):
        answer = client.post(f"/rides/{order_id}/withdraw", data={"csrf_token": wrong})
        assert answer.status_code == 400
    whole = {"csrf_token": f"{same}.{second}.{signature}"}
    assert client.post(f"/rides/{order_id}/withdraw", data=whole).status_code == 303
