"""Checks of a request before its view and its CSRF token: its origin, and the size of its form.

See docs/security.md ASVS 3.5 and section 5.
"""

import logging
from typing import Any, Final

from flask import Flask, Request, request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from ridedash.views.web import errors
from ridedash.views.web.request_log import reference, route

log = logging.getLogger(__name__)
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# "none" is a request that no page caused, such as a form that the user sends again by reloading;
# browsers without this header, and other programs, send no value
OURS: Final = frozenset({"", "same-origin", "none"})


# addresses that take files, and how many bytes a request to them may have
UPLOADS: Final = {"/lists/new": 2_200_000, "/admin/property/kiosk-look": 8_200_000}


class LimitedFormParser(FormDataParser):
    """Werkzeug's parser with a limit of fields for both kinds of forms, not only for multipart."""

    def parse(self, *args: Any, **named: Any) -> Any:
        """The stream, the fields and the files. Raises RequestEntityTooLarge for too many."""
        stream, form, files = super().parse(*args, **named)
        fields = sum(len(values) for values in form.listvalues())
        if self.max_form_parts is not None and fields > self.max_form_parts:
            raise RequestEntityTooLarge
        return stream, form, files


class LimitedRequest(Request):
    """A request whose form has at most MAX_FORM_PARTS fields; a larger one is answered with 413."""

    form_data_parser_class = LimitedFormParser


def init_app(app: Flask) -> None:
    """Check each request. Registered to run before the CSRF token is checked."""
    app.request_class = LimitedRequest
    app.before_request(_refuse_other_sites)
    app.before_request(_allow_uploads)


def _allow_uploads() -> None:
    """Let an address that takes files read a larger request than all others."""
    limit = UPLOADS.get(request.path)
    if limit is not None:
        request.max_content_length = limit
        request.max_form_memory_size = limit


def _refuse_other_sites() -> errors.Answer | None:
    """Refuse a form or a script of another site, including other host names of the same domain."""
    site = request.headers.get("Sec-Fetch-Site", "")
    if request.method in READING or site in OURS:
        return None
    log.warning(
        "refused a request of another site: Sec-Fetch-Site is %s at %s, reference %s",
        site[:20],
        route(),
        reference(),
    )
    return errors.page(403, errors.OTHER_SITE)
