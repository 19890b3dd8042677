"""The poll route as one writes it first: who asks and the ride through the ORM, and jsonify."""

from flask import Flask, Response, abort, jsonify

from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Staff


def plain_poll(db: Database) -> Flask:
    """The first member of staff asks; their property's ride is answered as it is stored."""
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
