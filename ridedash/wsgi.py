"""`ridedash.wsgi:app`, the dashboard for any WSGI server: a stateless web process, with its logs and its figures."""

import os

from ridedash import config
from ridedash.observing.process import prepare

prepare(config.load(os.environ), "web")

from ridedash.factory import create_app  # noqa: E402 - after the folder of the figures is known

app = create_app()
