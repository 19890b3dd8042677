"""The pages of records put together: what happened, what is known of whom, what the next shift must know."""

from flask import Flask

from ridedash.views import handover, history, history_csv, search


def init_app(app: Flask) -> None:
    """Register them."""
    for module in (history, history_csv, search, handover):
        app.register_blueprint(module.bp)
