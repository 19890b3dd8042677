"""Account linking: OAuth 2.0 authorization code with PKCE, and token refresh, one at a time."""

import base64
import hashlib
import re
import secrets
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

from ridedash.service.errors import Refused, Unreadable
from ridedash.service.parsing.fields import integer, row, text
from ridedash.service.responses import bad_status
from ridedash.service.transport.http import Answer, Http, Request, safe_address

TOTAL_S: Final = 8.0  # shorter than the lease of a refresh, 30 s
TOKEN_LIMIT: Final = 8192  # characters

_TOKEN_CHARS: Final = re.compile(r"[!-~]+")

T = TypeVar("T")


@dataclass(frozen=True)
class Tokens:
    """The tokens of an account. Neither is shown by repr."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_in_s: int | None = None  # None: the service did not state it


def pkce_pair() -> tuple[str, str]:
    """A fresh (verifier, S256 challenge) as in RFC 7636."""
    verifier = secrets.token_urlsafe(48)
    return verifier, challenge_of(verifier)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


class OAuthClient:
    """The partner's side of OAuth 2.0, with configured URLs. Raises the errors of `errors`.

    errors.Refused has OAuth's `error` as `code` and `error_description` as `message`; only
    `invalid_grant` means that the account must be linked again.
    """

    def __init__(
        self,
        http: Http,
        authorize_url: str,
        token_url: str,
        client_id: str,
        client_secret: str,
        scope: str,
    ) -> None:
        self._http = http
        self._authorize_url = authorize_url
        self._token_url = safe_address(token_url)
        self._client_id = client_id
        self._client_secret = client_secret
        self._scope = scope

    def __repr__(self) -> str:
        return f"OAuthClient({self._token_url!r})"

    def authorize_url(self, state: str, code_challenge: str, redirect_uri: str) -> str:
        """The URL for the browser; `code_challenge` and `state` belong to one linking."""
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": code_challenge,
            "code_challenge_method": "S256",
        }
        if self._scope:
            query["scope"] = self._scope
        joint = "&" if urlsplit(self._authorize_url).query else "?"
        return f"{self._authorize_url}{joint}{urlencode(query)}"

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """Exchange a code for tokens."""
        grant = {"grant_type": "authorization_code", "code": code}
        return self._tokens(grant | {"code_verifier": verifier, "redirect_uri": redirect_uri})

    def refresh(self, refresh_token: str) -> Tokens:
        """Exchange a refresh token for new tokens; the old one stays if no new one came."""
        fresh = self._tokens({"grant_type": "refresh_token", "refresh_token": refresh_token})
        if fresh.refresh_token is not None:
            return fresh
        return Tokens(fresh.access_token, refresh_token, fresh.expires_in_s)

    def _tokens(self, grant: dict[str, str]) -> Tokens:
        form = {**grant, "client_id": self._client_id}
        if self._client_secret:
            form["client_secret"] = self._client_secret
        request = Request(
            "POST",
            self._token_url,
            TOTAL_S,
            form=form,
            fresh=True,  # a refresh that is lost on a dead connection may cost the account's link
            secrets=(self._client_secret,),
        )
        return _read(self._http.call(request))


def _read(answer: Answer) -> Tokens:
    try:
        got = row(answer.json())
        unread = None
    except Unreadable as exc:
        got = {}
        unread = exc
    error = text(got.get("error"))
    # a temporary failure does not unlink the account
    if error is not None and answer.status < 500 and answer.status != 429:
        raise Refused(error, message=text(got.get("error_description")), http_status=answer.status)
    if not 200 <= answer.status < 300:
        raise bad_status(answer, got)
    access = _token(got.get("access_token"))
    kind = (text(got.get("token_type")) or "bearer").lower()
    if unread is not None or access is None or kind != "bearer":
        raise Unreadable(answer.status, "no bearer token in it", answer.evidence)
    lifetime = integer(got.get("expires_in"))
    if lifetime is not None and lifetime <= 0:
        lifetime = None
    return Tokens(access, _token(got.get("refresh_token")), lifetime)


def _token(value: Any) -> str | None:
    if not isinstance(value, str) or len(value) > TOKEN_LIMIT or not _TOKEN_CHARS.fullmatch(value):
        return None
    return value


class SingleFlight:
    """Runs a piece of work once for all threads that ask for the same key at the same time.

    A rotating refresh token may be used once; a second refresh at the same time would make both
    invalid. `work` must not call `do` with its own key.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Future[Any]] = {}

    def do(self, key: Hashable, work: Callable[[], T]) -> T:
        """Run `work`, or wait for the thread that runs it for this key.

        All get the same result, or the same exception.
        """
        with self._lock:
            flight = self._flights.get(key)
            mine = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if mine:
            self._fly(key, flight, work)
        result: T = flight.result()
        return result

    def _fly(self, key: Hashable, flight: "Future[Any]", work: Callable[[], T]) -> None:
        try:
            flight.set_result(work())
        except BaseException as exc:
            flight.set_exception(exc)
        finally:
            with self._lock:
                del self._flights[key]
