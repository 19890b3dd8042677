"""Plain versions of the poll route and of the page with the map, as one writes them first."""

from collections.abc import Sequence

import folium
from flask import Flask, Response, abort, jsonify

from ridedash.geo import LatLng
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Staff


def plain_poll(db: Database) -> Flask:
    """An application in which the first member of staff polls the rides of their property.

    It loads the member of staff and the ride through the ORM, and answers by jsonify.
    """
    app = Flask(__name__)

    @app.get("/rides/<int:order_id>/snapshot.json")
    def snapshot(order_id: int) -> Response:
        with db.read() as s:
            staff, order = s.get(Staff, 1), s.get(Order, order_id)
            if staff is None or order is None or order.property_id != staff.property_id:
                abort(404)
            ride = s.query(Ride).filter_by(order_id=order_id).one()
            answer = jsonify(
                state=order.state, status=ride.status, version=order.version, facts=ride.facts
            )
        answer.set_etag(f"{order.version}")
        return answer

    return app


def naive_map(center: LatLng, ring: Sequence[LatLng], points: Sequence[tuple[LatLng, str]]) -> str:
    """A map page as in folium's documentation: a map, an outline, markers with popups.

    The whole page is rendered by `Map.get_root().render()` for every request.
    """
    shown = folium.Map(location=center, zoom_start=15)
    folium.Polygon(list(ring), tooltip="Pickup zone").add_to(shown)
    for point, name in points:
        folium.Marker(point, popup=name, tooltip=name).add_to(shown)
    return str(shown.get_root().render())
