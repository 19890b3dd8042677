"""ridedash: a ride desk for hotels, hospitals and venues."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ridedash.__about__ import __version__

if TYPE_CHECKING:
    from flask import Flask

__all__ = ["__version__", "create_app"]


def create_app(environ: Mapping[str, str] | None = None) -> "Flask":
    """The dashboard as a WSGI app; see factory.create_app.

    The import is late on purpose: the sandbox's process imports this package too, but should not
    load the dashboard.
    """
    from ridedash.factory import create_app as build

    return build(environ)
