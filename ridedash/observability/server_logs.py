"""The lines of the WSGI servers themselves, in the form of ours (docs/operating.md, Processes).

granian reads a file of logging.config.dictConfig that names `line_formatter`; gunicorn takes the
class by `--logger-class`. Both keep their access logs off: those would hold whole addresses, and
with them the keys of guests' links.
"""

import logging
import os
from typing import Any, Final

from gunicorn.glogging import Logger

from ridedash import config
from ridedash.observability.logs import LineFormatter
from ridedash.observability.redaction import Redactor

PROCESS: Final = "server"  # in the lines; its workers, which serve pages, are "web"


def line_formatter() -> logging.Formatter:
    """The formatter of our own log lines, by the settings of the environment."""
    settings = config.load(os.environ)
    return LineFormatter(Redactor(settings.secrets), PROCESS, settings.log_format == "json")


class GunicornLog(Logger):  # type: ignore[misc] # gunicorn ships no types
    """gunicorn's log on standard error, a line of ours for each of its messages."""

    def setup(self, cfg: Any) -> None:
        """Set up as gunicorn does, then with our formatter."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(line_formatter())
