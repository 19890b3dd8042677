"""Every page of the dashboard, registered in one place.

The pages of a demo's own tools are registered by ridedash/demo/pages.py.
"""

from flask import Flask
from werkzeug.routing import BaseConverter

from ridedash.inputs import row_id
from ridedash.views.admin import (
    accounts,
    audit_log,
    face,
    fits,
    kiosk_actions,
    kiosk_look,
    kiosks,
    languages,
    own_words,
    pickup_hints,
    places,
    properties,
    staff,
    word_reviews,
)
from ridedash.views.admin import property as own_property
from ridedash.views.auth import invitations, profile, sign_in, staying
from ridedash.views.board import handover, search_list
from ridedash.views.board import kiosks as kiosk_desk
from ridedash.views.board import pages as board
from ridedash.views.booking import (
    autocomplete,
    drop_price,
    flights,
    group_cards,
    group_stop,
    groups,
    pickup_times,
    series,
)
from ridedash.views.booking import pages as booking
from ridedash.views.door import pages as door
from ridedash.views.guest import pages as guest
from ridedash.views.history import csv_export, search
from ridedash.views.history import pages as history
from ridedash.views.history import views as history_views
from ridedash.views.insights import csv_export as insights_csv
from ridedash.views.insights import pages as insights
from ridedash.views.kiosk import orders as kiosk_orders
from ridedash.views.kiosk import own_phone
from ridedash.views.kiosk import pages as kiosk
from ridedash.views.kiosk import pairing as kiosk_pairing
from ridedash.views.kiosk import visit as kiosk_visit
from ridedash.views.lists import pages as lists
from ridedash.views.ops import monitoring
from ridedash.views.rides import actions as _actions  # noqa: F401 - adds routes to rides.bp
from ridedash.views.rides import handouts, messages, restored
from ridedash.views.rides import pages as rides
from ridedash.views.web import face as faces
from ridedash.views.web import kept_forms
from ridedash.views.web.navigation import main_pages, settings_tabs

BLUEPRINTS = (
    *(sign_in.bp, staying.bp, invitations.bp, profile.bp),
    *(
        board.bp,
        kiosk_desk.bp,
        booking.bp,
        autocomplete.bp,
        drop_price.bp,
        pickup_times.bp,
        flights.bp,
    ),
    lists.bp,
    *(groups.bp, group_stop.bp, group_cards.bp, series.bp),
    *(rides.bp, handouts.bp, messages.bp, restored.bp, guest.bp),
    *(history.bp, history_views.bp, csv_export.bp, search.bp, search_list.bp),
    handover.bp,
    *(insights.bp, insights_csv.bp),
    *(kiosk.bp, kiosk_pairing.bp, kiosk_visit.bp, kiosk_orders.bp, door.bp, own_phone.bp),
    *(
        own_property.bp,
        face.bp,
        kiosk_look.bp,
        fits.bp,
        languages.bp,
        own_words.bp,
        word_reviews.bp,
        places.bp,
        staff.bp,
        accounts.bp,
        accounts.link_bp,
        audit_log.bp,
        properties.bp,
        kiosks.bp,
        kiosk_actions.bp,
        pickup_hints.bp,
    ),
    *(monitoring.bp, monitoring.metrics_bp, faces.bp),
)


class RowIdConverter(BaseConverter):
    """The converter for numbers in addresses: ids of rows."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        """The id; 0, which no row has, if the number is too large for a database."""
        return row_id(value) or 0


def init_app(app: Flask) -> None:
    """Register the blueprints, and give templates what they ask for on several pages."""
    app.url_map.converters["int"] = RowIdConverter
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.add_template_global(settings_tabs)
    app.add_template_global(main_pages)
    app.add_template_global(kept_forms.page_of)
    staying.init_app(app)
    app.add_template_global(faces.face_of)
