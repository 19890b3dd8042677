"""The OAuth 2.0 server: authorize (code with PKCE S256), token, refresh rotation, revoke."""

import base64
import hashlib
import hmac
import re
import secrets
import sqlite3
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from ridedash.sandbox.oauth.tokens import (
    ACCESS,
    ACCESS_SECONDS,
    REFRESH,
    REFRESH_SECONDS,
    TokenGrant,
    fingerprint,
    issue,
    revoke,
    revoke_family,
    spend_refresh,
)
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.services import SandboxServices, services
from ridedash.sandbox.users import SANDBOX_USERS, find_user

CODE_SECONDS: Final = 120.0


class CodeRequest(NamedTuple):
    """The authorization request that a code was issued for."""

    user: str
    redirect_uri: str
    challenge: str
    scope: str


class Presented(NamedTuple):
    """The fields with which a client exchanges a code for tokens."""

    code: str
    redirect_uri: str
    verifier: str


def issue_code(connection: sqlite3.Connection, authorized: CodeRequest, wall: float) -> str:
    """Store a new code and return it."""
    code = secrets.token_urlsafe(24)
    connection.execute(
        "INSERT INTO codes (hash, user, redirect_uri, challenge, scope, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (fingerprint(code), *authorized, wall + CODE_SECONDS),
    )
    return code


def spend_code(
    connection: sqlite3.Connection, presented: Presented, wall: float
) -> TokenGrant | None:
    """Exchange a code for a grant; None if it is unknown, expired, used or doesn't match.

    A code that is presented twice revokes the tokens of its first use (RFC 6749, 4.1.2).
    """
    row = connection.execute(
        "SELECT * FROM codes WHERE hash = ?", (fingerprint(presented.code),)
    ).fetchone()
    if row is None:
        return None
    if row["family"] is not None:
        revoke_family(connection, row["family"])
        return None
    proved = hmac.compare_digest(challenge_of(presented.verifier), row["challenge"])
    if row["expires_at"] <= wall or row["redirect_uri"] != presented.redirect_uri or not proved:
        return None
    family = secrets.token_hex(8)
    connection.execute("UPDATE codes SET family = ? WHERE hash = ?", (family, row["hash"]))
    return TokenGrant(row["user"], row["scope"], family)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


bp: Final = Blueprint("oauth", __name__, url_prefix="/oauth", template_folder="templates")
CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
PARAMETERS: Final = (
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "scope",
    "code_challenge",
    "code_challenge_method",
)
BODY_LIMIT: Final = 16 * 1024


@bp.get("/authorize")
def authorize() -> AnyResponse:
    """The page on which a user of the sandbox is chosen.

    An unknown client or redirect URI gets an error page, never a redirect.
    """
    problem = _trust_error(request.args)
    if problem:
        return _page(request.args, problem=problem, status=400)
    error = _parameter_error(request.args)
    if error:
        return _redirect_back(request.args, error=error)
    return _page(request.args)


@bp.post("/authorize")
def decide() -> AnyResponse:
    """Handle the choice: redirect to the partner with a code, or with `access_denied`."""
    request.max_content_length = BODY_LIMIT
    form = request.form
    problem = _trust_error(form)
    if problem:
        return _page(form, problem=problem, status=400)
    error = _parameter_error(form)
    if error or form.get("decision") != "allow":
        return _redirect_back(form, error=error or "access_denied")
    user = find_user(form.get("user", ""))
    if user is None:
        return _page(form, status=400)
    sandbox = services()
    with sandbox.store.write() as connection:
        authorized = CodeRequest(
            user.id, form["redirect_uri"], form["code_challenge"], form.get("scope", "")
        )
        code = issue_code(connection, authorized, sandbox.clock.wall())
    return _redirect_back(form, code=code)


@bp.post("/token")
def token() -> Response:
    """Exchange a code or a refresh token for tokens; errors follow RFC 6749 section 5.2."""
    request.max_content_length = BODY_LIMIT
    sandbox = services()
    form = request.form
    _check_client(sandbox)
    exchange = {"authorization_code": _by_code, "refresh_token": _by_refresh}.get(
        form.get("grant_type", "")
    )
    if exchange is None:
        raise _refused("unsupported_grant_type")
    grant = exchange(sandbox, form)
    if grant is None:
        raise _refused("invalid_grant")
    return _tokens(sandbox, grant)


@bp.post("/revoke")
def revoke_token() -> Response:
    """Revoke a token and its family; an unknown token is not an error (RFC 7009)."""
    request.max_content_length = BODY_LIMIT
    sandbox = services()
    _check_client(sandbox)
    with sandbox.store.write() as connection:
        revoke(connection, request.form.get("token", ""))
    return jsonify({})


def _tokens(sandbox: SandboxServices, grant: TokenGrant) -> Response:
    wall = sandbox.clock.wall()
    with sandbox.store.write() as connection:
        access = issue(connection, ACCESS, grant, wall + ACCESS_SECONDS)
        refresh = issue(connection, REFRESH, grant, wall + REFRESH_SECONDS)
    answer = jsonify(
        {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_SECONDS),
            "refresh_token": refresh,
            "scope": grant.scope,
        }
    )
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _by_code(sandbox: SandboxServices, form: MultiDict[str, str]) -> TokenGrant | None:
    with sandbox.store.write() as connection:
        presented = Presented(
            form.get("code", ""), form.get("redirect_uri", ""), form.get("code_verifier", "")
        )
        return spend_code(connection, presented, sandbox.clock.wall())


def _by_refresh(sandbox: SandboxServices, form: MultiDict[str, str]) -> TokenGrant | None:
    with sandbox.store.write() as connection:
        return spend_refresh(connection, form.get("refresh_token", ""), sandbox.clock.wall())


def _check_client(sandbox: SandboxServices) -> None:
    """Refuse a wrong client id or secret, sent in the form or by HTTP Basic."""
    basic = request.authorization
    if basic is not None and basic.type != "basic":
        basic = None
    client_id = (basic.username if basic else request.form.get("client_id")) or ""
    secret = (basic.password if basic else request.form.get("client_secret")) or ""
    expected = (sandbox.settings.client_id.encode(), sandbox.settings.client_secret.encode())
    same = [
        hmac.compare_digest(sent.encode("utf-8", "replace"), ours)
        for sent, ours in zip((client_id, secret), expected, strict=True)
    ]
    if not all(same):
        raise RequestRefusal(401, {"error": "invalid_client"}, {"WWW-Authenticate": "Basic"})


def _refused(error: str) -> RequestRefusal:
    return RequestRefusal(400, {"error": error}, {"Cache-Control": "no-store"})


def _trust_error(parameters: MultiDict[str, str]) -> str | None:
    """The message for an unknown client or redirect URI; None when both are registered."""
    settings = services().settings
    if parameters.get("client_id") != settings.client_id:
        return "This application is not known here."
    if parameters.get("redirect_uri") not in settings.redirect_uris:
        return "The application asks to return to an address that is not registered for it."
    return None


def _parameter_error(parameters: MultiDict[str, str]) -> str | None:
    if parameters.get("response_type") != "code":
        return "unsupported_response_type"
    if parameters.get("code_challenge_method") != "S256":
        return "invalid_request"
    if not CHALLENGE.fullmatch(parameters.get("code_challenge", "")):
        return "invalid_request"
    return None


def _redirect_back(parameters: MultiDict[str, str], **answer: str) -> AnyResponse:
    """Redirect to the partner's redirect URI with the answer and the given state."""
    if parameters.get("state"):
        answer["state"] = parameters["state"]
    uri = parameters["redirect_uri"]
    return redirect(f"{uri}{'&' if urlsplit(uri).query else '?'}{urlencode(answer)}", 303)


def _page(
    parameters: MultiDict[str, str], *, problem: str | None = None, status: int = 200
) -> AnyResponse:
    nonce = base64.b64encode(secrets.token_bytes(16)).decode()
    hidden: dict[str, Any] = {name: parameters.get(name, "") for name in PARAMETERS}
    html = render_template(
        "authorize.html", users=SANDBOX_USERS, parameters=hidden, problem=problem, nonce=nonce
    )
    answer = make_response(html, status)
    targets = "'self'"
    if problem is None:
        # Chromium applies form-action to the redirect after the form too.
        parts = urlsplit(parameters.get("redirect_uri", ""))
        targets += f" {parts.scheme}://{parts.netloc}"
    answer.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; form-action {targets}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
