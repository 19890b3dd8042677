"""Linking an account: OAuth 2.0 authorization code with PKCE, refresh, and one refresh at a time."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from ridedash.service.http import Http

T = TypeVar("T")


@dataclass(frozen=True)
class Tokens:
    """What a token endpoint gives. Neither token shows in a repr."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_in_s: int | None = None  # None: not said


def pkce_pair() -> tuple[str, str]:
    """A fresh (verifier, S256 challenge)."""
    raise NotImplementedError


class OAuthClient:
    """The partner's side of OAuth 2.0 against configured URLs. Raises the tree of `errors`.

    errors.Refused carries OAuth's `error` as `code` and `error_description` as `message`;
    `invalid_grant` means that the account must be linked again.
    """

    def __init__(
        self, http: Http, authorize_url: str, token_url: str, client_id: str, client_secret: str, scope: str
    ) -> None:
        raise NotImplementedError

    def authorize_url(self, state: str, code_challenge: str, redirect_uri: str) -> str:
        """Where to send the browser."""
        raise NotImplementedError

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        """A code for tokens."""
        raise NotImplementedError

    def refresh(self, refresh_token: str) -> Tokens:
        """A refresh token for new tokens; keep the old refresh token when no new one comes."""
        raise NotImplementedError


class SingleFlight:
    """Of the threads that ask for the same key at once, one works and all get its result."""

    def do(self, key: Hashable, work: Callable[[], T]) -> T:
        """Run `work`, or wait for the thread that runs it for this key; its error is everybody's."""
        raise NotImplementedError
