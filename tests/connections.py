"""Watches where the tests' own process connects to: only ports of tests are allowed.

A test opens port 0, so its port is one that the kernel chose. A fixed port belongs to another
program: to a demo that runs on this machine, or to the machine's own PostgreSQL or Redis. Audit
hooks see every connection that Python makes (docs.python.org: socket.connect), but none of a
library in C or of a child process.
"""

import ipaddress
import sys
from pathlib import Path
from typing import Any, Final

REFUSING: Final = {1, 9}
"""Ports at which nothing listens: connections to them are refused, which some tests want."""
_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL: Final = range(49152, 65536)  # where the kernel does not say: the range of RFC 6335

seen: list[tuple[Any, ...]] = []
"""The connections to ports of others since the last `clear`."""


def chosen_by_kernel() -> range:
    """The ports that a socket bound to port 0 gets."""
    if not _RANGE.exists():
        return _USUAL
    first, last = map(int, _RANGE.read_text().split())
    return range(first, last + 1)


OWN: Final = chosen_by_kernel()


def is_of_tests(address: Any) -> bool:
    """Whether a test may connect to this address; paths (of Unix sockets) are always allowed."""
    if not isinstance(address, tuple):
        return True
    host, port = address[:2]
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    return here and (port in OWN or port in REFUSING)


def watch() -> None:
    """Record in `seen`, from now on, each connection that a test may not make."""

    def audit_hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "socket.connect" and not is_of_tests(args[1]):
            seen.append(args[1])

    sys.addaudithook(audit_hook)
