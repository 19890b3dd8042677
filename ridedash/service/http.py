"""One bounded call: deadline, cap, no redirects, no cookies; the only module that imports httpx."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

CAP_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Answer:
    """A complete HTTP answer, not judged: any status may be in it."""

    status: int
    headers: Mapping[str, str] = field(repr=False)  # names in lower case
    body: bytes = field(repr=False)
    elapsed_s: float = 0.0

    def json(self) -> Any:
        """The body as strict JSON, floats as Decimal. Raises errors.Unreadable."""
        raise NotImplementedError


class Http:
    """Makes calls; safe to share between threads. Hand in a transport to call an app or a fake instead."""

    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        raise NotImplementedError

    def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        connect_s: float,
        total_s: float,
        cap_bytes: int = CAP_BYTES,
        fresh: bool = False,
    ) -> Answer:
        """One request, one answer, within `total_s` seconds, headers and body included.

        `fresh` uses a connection of its own and closes it. Raises errors.NoAnswer, and errors.Unreadable for
        a body above the cap or in a content encoding.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close idle connections."""
