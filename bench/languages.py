"""What eight languages cost: the polls of rides, guests' links and the board, against one language.

They are measured in this process, as CPU time. Only the language in the address differs.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, Final

from bench import frame
from bench.frame import Ratio, Run, line
from bench.poll_world import World, make_world
from ridedash.wording.languages import ENGLISH, LANGUAGES

RIDES: Final = 20
TAGS: Final = [row.tag for row in LANGUAGES.values()]
PAGES: Final = {
    "ride": "polls of rides",
    "link": "polls of guests' links",
    "board": "polls of the board",
}
UNIT: Final = "µs of CPU a poll"
Environ = dict[str, Any]


@line(
    "languages",
    "polls in eight languages, against polls in one",
    aim="≤ 1.03",
    protects="A house whose staff and guests read eight languages pays for its rides, not for "
    "its languages.",
    minutes=3,
)
def eight_languages(run: Run) -> Sequence[Ratio]:
    """Each viewer polls once after an update; then many polls without an update are timed.

    Each side has the same viewers.
    """
    with frame.folder() as folder:
        world = make_world(folder, RIDES, POLL_LAYER="on")
        try:
            return [_of(run, world, folder, page, label) for page, label in PAGES.items()]
        finally:
            world.desk.close()


def _of(run: Run, world: World, folder: Path, page: str, label: str) -> Ratio:
    viewers = run.of(800, 160)
    one = _polls(world, folder, page, viewers, [ENGLISH])
    eight = _polls(world, folder, page, viewers, TAGS)
    rounds = run.of(100, 30)

    def cost(polls: Sequence[Environ]) -> Callable[[], float]:
        def taken() -> float:
            world.record_seen()
            for poll in polls:
                _answer(world, poll)  # the answer is made once in each language, then cached
            began = process_time()
            for _round in range(rounds):
                for poll in polls:
                    _answer(world, poll)
            spent = process_time() - began
            if any(not _answer(world, poll)[0].startswith("304") for poll in polls):
                raise RuntimeError(f"{label}: a poll without an update was answered in full")
            return spent * 1e6 / (rounds * len(polls))

        return taken

    return frame.side_by_side(run, cost(eight), cost(one), UNIT, label=label)


def _polls(
    world: World, folder: Path, page: str, viewers: int, tags: Sequence[str]
) -> list[Environ]:
    """One poll of each viewer, who knows the answer already; the viewers' languages alternate."""
    known: dict[tuple[str, str], str] = {}
    found = []
    for n, poll_line in enumerate(world.ask(folder, viewers, page).read_text().splitlines()):
        path, cookie, _tag = poll_line.split("\t")
        url = f"{path}{'&' if '?' in path else '?'}lang={tags[n % len(tags)]}"
        poll = _environ(url, cookie)
        about = (f"{n % RIDES}" if page != "board" else "", tags[n % len(tags)])
        if about not in known:
            known[about] = _answer(world, poll)[1].get("ETag", "")
        found.append(poll | {"HTTP_IF_NONE_MATCH": known[about]})
    return found


def _environ(address: str, cookie: str) -> Environ:
    path, _, query = address.partition("?")
    return {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "localhost",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **({"HTTP_COOKIE": cookie} if cookie else {}),
    }


def _answer(world: World, poll: Environ) -> tuple[str, dict[str, str]]:
    """Status and headers of the answer to a poll."""
    answer_head: list[Any] = []

    def start(status: str, headers: Any, _error: Any = None) -> None:
        answer_head[:] = [status, headers]

    body = world.desk.app(poll | {"wsgi.input": io.BytesIO()}, start)
    for _part in body:
        pass
    if hasattr(body, "close"):
        body.close()
    if not answer_head[0].startswith(("200", "304")):
        raise RuntimeError(f"{poll['PATH_INFO']} answered {answer_head[0]}")
    return answer_head[0], dict(answer_head[1])
