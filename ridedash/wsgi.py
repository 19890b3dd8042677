"""`ridedash.wsgi:app`, the dashboard for any WSGI server: a stateless web process, with its logs
and its figures.
"""

import os

from ridedash import config
from ridedash.observability.process import prepare

settings = config.load(os.environ)
prepare(settings, "web")

from ridedash.factory import create_app  # noqa: E402 - after the folder of the figures is known

app = create_app()
if settings.demo:
    from ridedash.views.ops.assets import DemoTiles

    app.wsgi_app = DemoTiles(app.wsgi_app, settings.service_url)  # type: ignore[method-assign,assignment]
