"""The security headers of every answer, with a CSP and its nonce (docs/security.md ASVS 3.4)."""

import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, g, request, session

from ridedash.config import Settings

# CSP of answers that are not pages: nothing may be loaded or run
INERT_POLICY = "default-src 'none'; frame-ancestors 'none'"
# CSP of a picture: it may be an SVG that is opened by itself, and its scripts must not run
PICTURE_POLICY = f"{INERT_POLICY}; sandbox"

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OF_DOCUMENTS = {  # not for JSON: they have no effect there, and polls stay short
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
# of pages behind links, and of an unknown address, which may be a link with a typing error
PRIVATE = {
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}
OF_FRAMED = {"X-Frame-Options": "SAMEORIGIN"}  # in a demo, whose stage shows pages side by side
LIVE_ONLY = {"Strict-Transport-Security": "max-age=31536000; includeSubDomains"}


def init_app(app: Flask, settings: Settings) -> None:
    """Give each request a nonce (`csp_nonce` in templates) and each answer its headers."""
    tile_host = origin(settings.tiles_url)
    of_json = ALWAYS if settings.demo else ALWAYS | LIVE_ONLY
    of_documents = of_json | OF_DOCUMENTS
    of_pages = of_documents | {"Cache-Control": "no-store"}
    if settings.sandboxed:
        of_pages |= OF_FRAMED

    @app.context_processor
    def give_nonce() -> dict[str, str]:
        return {"csp_nonce": nonce()}

    @app.after_request
    def add_headers(answer: Response) -> Response:
        if request.url_rule is None:
            _keep_nothing(answer)
        kind = answer.mimetype
        policy = INERT_POLICY
        wanted = of_documents
        if kind == "text/html":
            policy = page_policy(nonce(), tile_host, g.get("form_leads_to", ""))
            if settings.sandboxed:
                policy = _with_frames(policy)
            wanted = of_pages
        elif kind == "application/json":
            wanted = of_json
        elif kind and kind.startswith("image/"):
            policy = PICTURE_POLICY
        answer.headers["Content-Security-Policy"] = policy
        present = {name.lower() for name, _value in answer.headers}
        for name, value in wanted.items():
            if name.lower() not in present:  # a view may have set a stricter value
                answer.headers.add(name, value)
        return answer


def _keep_nothing(answer: Response) -> None:
    """Make the answer of an unknown address private, and let it set no new cookie.

    A guest's map may have asked for a missing tile.
    """
    answer.headers.update(PRIVATE)
    if "sid" not in session:
        session.modified = False


def of_files(settings: Settings) -> dict[str, str]:
    """The security headers of static files, which are served before Flask.

    A page needs dozens of files, so each has only the headers that have an effect on it.
    """
    headers = {"Content-Security-Policy": INERT_POLICY} | ALWAYS
    if settings.demo:
        return headers
    return headers | LIVE_ONLY


def nonce() -> str:
    """The nonce of this request, made on first use, so that early error pages have one too."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def page_policy(nonce: str, tile_host: str, form_host: str = "") -> str:
    """The CSP of a page (docs/security.md 3). Both hosts are origins, or empty.

    `form_host` is the host to which the answer to a form of this page redirects: Chromium checks
    form-action against it too.
    """
    forms = f"'self' {form_host}".strip()
    own = f"'self' 'nonce-{nonce}'"
    images = " ".join(filter(None, ["'self'", "data:", tile_host]))
    return (
        f"default-src 'none'; script-src {own}; style-src {own}; img-src {images}; "
        f"font-src 'self'; connect-src 'self'; form-action {forms}; base-uri 'none'; "
        "frame-ancestors 'none'; object-src 'none'; manifest-src 'self'"
    )


def _with_frames(policy: str) -> str:
    """The CSP of a page in a demo on our own sandbox: our own pages may frame it.

    The stage, which calls `let_frames_in`, may contain frames with our own pages.
    """
    policy = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    if not g.get("frames_in"):
        return policy
    return f"{policy}; frame-src 'self'"


def let_frames_in() -> None:
    """Let this page contain frames with our own pages; without effect outside of a demo."""
    g.frames_in = True


def let_forms_lead_to(url: str) -> None:
    """Let the answer to a form of this page redirect to the host of `url`."""
    g.form_leads_to = origin(url)


def origin(url: str) -> str:
    """The scheme and host of a URL; empty for a path."""
    parts = urlsplit(url)
    if not parts.netloc:
        return ""
    return f"{parts.scheme}://{parts.netloc}"
