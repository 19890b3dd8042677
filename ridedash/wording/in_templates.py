"""The words of templates: `_()`, `ngettext()` and `pgettext()`, with their facts set apart."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.runtime import Context

from ridedash.wording.say import counted, gettext, isolated, pgettext

Fill = Callable[..., Any]


def install(templates: Environment) -> None:
    """Give templates the words of the reader's language.

    Jinja escapes the facts of a sentence and fills them in; the text itself is ours and is not
    escaped. A fact that runs against the page is set apart before, as in `say`.
    """
    templates.install_gettext_callables(  # type: ignore[attr-defined] # of its extension i18n
        gettext, counted, newstyle=True, pgettext=pgettext
    )
    words: dict[str, Any] = templates.globals
    for name in ("gettext", "ngettext", "pgettext"):
        words[name] = _apart(words[name])


def _apart(fill: Fill) -> Fill:
    @pass_context
    def filled(context: Context, *texts: Any, **facts: Any) -> Any:
        return fill(context, *texts, **isolated(facts))

    return filled
