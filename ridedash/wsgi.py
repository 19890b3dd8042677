"""`ridedash.wsgi:app`: a web process for any WSGI server; workers run in other processes."""

import os

from ridedash import config
from ridedash.observability.process import prepare, started

settings = config.load(os.environ)
prepare(settings, "web")

from ridedash.factory import create_app  # noqa: E402 - after the metrics folder is set
from ridedash.views.ops import file_server  # noqa: E402

app = create_app()
file_server.prepare(app)
if settings.demo:
    from ridedash.services import follow_turns
    from ridedash.views.ops.demo_tiles import DemoTiles

    follow_turns(app.extensions["ridedash"])
    tiles = DemoTiles(app.wsgi_app, settings.service_url)
    app.wsgi_app = tiles  # type: ignore[method-assign,assignment]
started()
