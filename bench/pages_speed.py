"""The cost of pages on the server, and their size for the browser."""

import gzip
import re
from collections.abc import Callable

from bench import frame
from bench.baselines.plain import naive_map
from bench.frame import Ratio, Run, line
from bench.page_desk import RING, TRIP, Pages, cpu_ms, pages, points_of
from ridedash.geo import LatLng
from ridedash.maps import Shapes, map_parts


@line(
    "picker-map",
    "the picker's map with 50 points, server CPU against folium's own page of them",
    aim="≤ 1/50",
    protects="A desk at a station with fifty pickup points opens the picker as fast as any other.",
)
def picker_map(run: Run) -> Ratio:
    """The part of the page that draws the map.

    Ours is made from a cached skeleton; the baseline is rendered for each request.
    """
    with pages() as shown:
        center, points = LatLng(-38.505, -127.995), points_of(shown.service)
        places = [point for point, _ in points]
        settings = shown.desk.services.settings
        shapes = Shapes(boundary=RING, points=places)
        return frame.side_by_side(
            run,
            lambda: cpu_ms(200, lambda: map_parts(settings, center=center, shapes=shapes)),
            lambda: cpu_ms(5, lambda: naive_map(center, RING, points)),
            "ms of CPU",
        )


@line(
    "picker-page",
    "the whole picker page with 50 points, against folium's own page of them alone",
    aim="≤ 1/50",
    protects="Opening the picker costs the server little: sign-in, offers stored, cards, forms and "
    "map together.",
)
def picker_page(run: Run) -> list[Ratio]:
    """The whole page for a signed-in user, with its use of the database.

    The baseline is a page with only a map.
    """
    with pages() as shown:
        center, points = LatLng(-38.505, -127.995), points_of(shown.service)
        empty = _against_folium(
            run, lambda: shown.get("/rides/new"), center, points, "before a trip is chosen"
        )
        cards = _against_folium(
            run,
            lambda: _with_cards(shown),
            center,
            points,
            "with cards and stored offers",
        )
        return [empty, cards]


def _with_cards(shown: Pages) -> bytes:
    """The picker with its cards. Raises without them: a page without cards is fast and light."""
    page = shown.get("/rides/new", **TRIP, show="1")
    if b'data-product="' not in page:
        raise RuntimeError("the picker has no cards")
    return page


def _against_folium(
    run: Run,
    ours: Callable[[], object],
    center: LatLng,
    points: list[tuple[LatLng, str]],
    label: str,
) -> Ratio:
    return frame.side_by_side(
        run,
        lambda: cpu_ms(run.of(20, 5), ours),
        lambda: cpu_ms(run.of(5, 2), lambda: naive_map(center, RING, points)),
        "ms of CPU",
        label=label,
    )


@line(
    "page-weight",
    "bytes of the picker page with 50 points on the wire, gzipped, with its own scripts and styles",
    aim="≤ 1/2",
    protects="A desk on a phone's network sees its page soon, and asks no foreign host for any of "
    "it.",
)
def page_weight(run: Run) -> list[Ratio]:  # noqa: ARG001 - weights do not vary
    """Our page with all its files, against folium's page with its files.

    Folium's files are 300 kB, as measured.
    """
    with pages() as shown:
        naive = _gzipped(
            naive_map(LatLng(-38.505, -127.995), RING, points_of(shown.service)).encode()
        )
        order = shown.desk.order(status="CALL_DRIVER")
        return [
            _weighed(shown, _with_cards(shown), naive, "picker"),
            _weighed(shown, shown.get(f"/rides/{order}"), naive, "ride page"),
        ]


# The files that folium 0.20's default page loads from other hosts (docs/performance.md 2).
FOLIUM_FILES, FOLIUM_KB = 10, 300.0


def _weighed(shown: Pages, page: bytes, naive_page: float, label: str) -> Ratio:
    files = _files(shown, page.decode())
    ours, theirs = _gzipped(page) + sum(files.values()), naive_page + FOLIUM_KB
    note = (
        f"{len(files) + 1} requests against {FOLIUM_FILES + 1}; the page alone "
        f"{_gzipped(page):.1f} kB"
    )
    return Ratio(
        ours, theirs, ours / theirs, (ours / theirs, ours / theirs), "kB", label=label, note=note
    )


def _files(shown: Pages, page: str) -> dict[str, float]:
    """Each file of this program that a page loads, with imports of scripts, in kB gzipped."""
    waiting = re.findall(r'(?:src|href)="(/(?:static|vendor)[^"#?]+)', page)
    found: dict[str, float] = {}
    while waiting:
        path = waiting.pop()
        if path in found or path.endswith("/"):
            continue
        body = shown.get(path)
        found[path] = _gzipped(body)
        if path.endswith(".js"):
            folder = path.rpartition("/")[0]
            waiting += [
                _joined(folder, name) for name in re.findall(r'from "(\.[^"]+)"', body.decode())
            ]
    return found


def _joined(folder: str, name: str) -> str:
    parts = folder.split("/")
    for step in name.split("/"):
        if step == "..":
            parts.pop()
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def _gzipped(body: bytes) -> float:
    return len(gzip.compress(body, 6)) / 1000
