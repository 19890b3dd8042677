"""The time to process an answer of products, against that of the call that fetches it."""

from collections.abc import Callable
from time import perf_counter

from bench import frame, serving
from bench.frame import Ratio, Run, line, quiet
from bench.page_desk import pages
from bench.sandbox_speed import DATABASE
from ridedash.service.transport.http import Answer, Http, Request
from ridedash.service.types.products import ProductList
from ridedash.views.booking.product_cards import card, trip_facts
from tests.sandbox.sandbox_desk import HOTEL, Desk, far_drop

ENDS = {"pickup": HOTEL, "drop": far_drop()}
QUERY = {
    f"{end}_{axis}": str(getattr(position, axis))
    for end, position in ENDS.items()
    for axis in ("lat", "lng")
}


@line(
    "products",
    "products: reading an answer and making its cards, against the call to a service that works "
    "out its prices",
    aim="≤ 10 %",
    protects="Cards appear when the service has answered, not a moment later.",
)
def products(run: Run) -> Ratio:
    """The baseline is a call of our client to the sandbox on this machine: no service is nearer.

    Most of its time is the sandbox's work. A baseline that answers with constant bytes would be so
    fast that no parser could reach the aim.
    """
    with frame.folder() as folder, pages() as shown, shown.desk.app.test_request_context():
        desk = Desk(folder, clock=None)
        desk.close()
        with (
            serving.served(
                "bench.sandbox_speed:sandbox", {DATABASE: str(desk.database)}
            ) as sandbox,
            Http() as http,
        ):
            ask = lambda: _call(http, sandbox.url, desk.headers)  # noqa: E731
            answer = ask()
            times = run.of(40, 10)
            return frame.side_by_side(
                run,
                lambda: _quiet_ms(times, lambda: _cards(answer)),
                lambda: _quiet_ms(times, ask),
                "ms",
            )


def _call(http: Http, url: str, headers: dict[str, str]) -> Answer:
    request = Request("GET", f"{url}/v1/products", 10, headers=headers, params=QUERY)
    answer = http.call(request)
    assert answer.status == 200
    return answer


def _cards(answer: Answer) -> object:
    listed = ProductList.from_wire(answer.json())
    return [card(product, has_drop=True, locale="en") for product in listed.products], trip_facts(
        listed.products, "en"
    )


def _quiet_ms(times: int, work: Callable[[], object]) -> float:
    took = []
    for _ in range(times):
        began = perf_counter()
        work()
        took.append((perf_counter() - began) * 1000)
    return quiet(took)
