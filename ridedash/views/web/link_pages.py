"""Pages behind links, which are opened without a sign-in: headers, languages, base template.

They extend guest/base.html. Most of these links open their page for anyone who has them, so the
pages are not cached, not listed by search engines, and their addresses are not sent to other sites
(docs/security.md 6).
"""

from typing import Any, NamedTuple

from flask import Response, current_app, g

from ridedash.extensions import is_poll, language, offered, services
from ridedash.views.web.responses import reading
from ridedash.views.web.security_headers import PRIVATE, nonce
from ridedash.views.web.top_bar import demo_words, on_stage
from ridedash.wording.languages import LANGUAGES


class LanguageChoice(NamedTuple):
    """A language in the list at the end of a page, with its own name."""

    tag: str
    own_name: str
    direction: str
    current: bool


def link_page(template: str, **facts: Any) -> str:
    """Render a page without the context of staff pages: it depends on no sign-in and no session."""
    known = {
        "csp_nonce": nonce() if "map" in facts else "",
        "demo_words": demo_words(services().settings),
        "on_stage": on_stage(services().settings),
        "languages": _choices(),
        "by_machine": language() in g.get("unread", offered().unread(())),
        **reading(),
    }
    return current_app.jinja_env.get_template(template).render(**known, **facts)


def keep_private(answer: Response) -> Response:
    """Let nobody store, refer to or index an answer; a hook for blueprints, error pages included.

    Pages vary with the languages of the browser; a poll has its language in its address.
    """
    answer.headers.update(PRIVATE)
    if not is_poll():
        answer.vary.add("Accept-Language")
    return answer


def _choices() -> list[LanguageChoice]:
    """The languages of this page; none if there is only one."""
    here = g.get("guests", offered().guests)
    current = language()
    codes = [code for code in LANGUAGES if code in here or code in ("en", current)]
    rows = [LANGUAGES[code] for code in codes]
    if len(rows) < 2:
        return []
    return [
        LanguageChoice(row.tag, row.own_name, row.direction, row.code == current) for row in rows
    ]
