"""Log lines of the WSGI servers, in the format of our own (docs/operating.md, Processes)."""

import logging
import os
from typing import Any, Final

from gunicorn.glogging import Logger

from ridedash import config
from ridedash.observability.logs import LineFormatter
from ridedash.observability.redaction import Redactor

# the name of the server in log lines; its workers, which serve pages, are "web"
PROCESS: Final = "server"


def line_formatter() -> logging.Formatter:
    """The formatter of our own log lines, by the settings of the environment."""
    settings = config.load(os.environ)
    return LineFormatter(Redactor(settings.secrets), PROCESS, settings.log_format == "json")


class GunicornLog(Logger):  # type: ignore[misc] # gunicorn ships no types
    """gunicorn's log on standard error, in our format."""

    def setup(self, cfg: Any) -> None:
        """Set up gunicorn's log, then use our formatter."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(line_formatter())
