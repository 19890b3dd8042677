"""Plain versions of the poll route and of the map page, as one would write them at first."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import folium
from flask import Flask, Response, abort, jsonify
from flask_login import LoginManager, UserMixin, current_user, login_required, login_user
from sqlalchemy.orm import Session

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
            staff = s.get(Staff, 1)
            if staff is None:
                abort(404)
            return _snapshot(s, staff.property_id, order_id)

    return app


def obvious_poll(db: Database) -> Flask:
    """`plain_poll` with Flask-Login: `/sign-in` signs the first member of staff in by a cookie."""
    app = Flask(__name__)
    app.secret_key = secrets.token_bytes(32)
    manager = LoginManager(app)

    @manager.user_loader  # type: ignore[untyped-decorator]
    def load(staff_id: str) -> _Person | None:
        with db.read() as s:
            staff = s.get(Staff, int(staff_id))
            return _Person(staff.id, staff.property_id) if staff else None

    @app.get("/sign-in")
    def sign_in() -> str:
        login_user(load("1"))
        return ""

    @app.get("/rides/<int:order_id>/snapshot.json")
    @login_required  # type: ignore[untyped-decorator]
    def snapshot(order_id: int) -> Response:
        with db.read() as s:
            return _snapshot(s, current_user.property_id, order_id)

    return app


@dataclass(frozen=True)
class _Person(UserMixin):  # type: ignore[misc] # flask_login ships no types
    id: int
    property_id: int


def _snapshot(s: Session, property_id: int, order_id: int) -> Response:
    order = s.get(Order, order_id)
    if order is None or order.property_id != property_id:
        abort(404)
    ride = s.query(Ride).filter_by(order_id=order_id).one()
    answer = jsonify(state=order.state, status=ride.status, version=order.version, facts=ride.facts)
    answer.set_etag(f"{order.version}")
    return answer


def naive_map(center: LatLng, ring: Sequence[LatLng], points: Sequence[tuple[LatLng, str]]) -> str:
    """A map page as in folium's documentation: a map, an outline, markers with popups.

    The whole page is rendered by `Map.get_root().render()` for every request.
    """
    shown = folium.Map(location=center, zoom_start=15)
    folium.Polygon(list(ring), tooltip="Pickup zone").add_to(shown)
    for point, name in points:
        folium.Marker(point, popup=name, tooltip=name).add_to(shown)
    return str(shown.get_root().render())
