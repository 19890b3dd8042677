"""Where a ride without a drop ended: the point, and the address found for it."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision: str | None = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. Rides that are over get the point that the service reported, no address."""
    name = sa.String(200).with_variant(sa.Text(), "postgresql")
    op.add_column("rides", sa.Column("end_lat", sa.Float(), nullable=True))
    op.add_column("rides", sa.Column("end_lng", sa.Float(), nullable=True))
    op.add_column("rides", sa.Column("end_name", name, nullable=True))
    rides = sa.table(
        "rides",
        sa.column("id"),
        sa.column("order_id"),
        sa.column("status"),
        sa.column("facts", sa.JSON()),
        sa.column("end_lat"),
        sa.column("end_lng"),
    )
    orders = sa.table("orders", sa.column("id"), sa.column("offer_id"))
    offers = sa.table("offers", sa.column("id"), sa.column("drop_lat"))
    over = (
        sa.select(rides.c.id, rides.c.facts)
        .join(orders, orders.c.id == rides.c.order_id)
        .join(offers, offers.c.id == orders.c.offer_id)
        .where(rides.c.status == "COMPLETED", offers.c.drop_lat.is_(None))
    )
    for ride_id, facts in op.get_bind().execute(over).all():
        drop = (facts or {}).get("drop")
        if isinstance(drop, list) and len(drop) == 2:
            here = rides.update().where(rides.c.id == ride_id)
            op.execute(here.values(end_lat=drop[0], end_lng=drop[1]))


def downgrade() -> None:
    """Drop what upgrade() added."""
    for column in ("end_name", "end_lng", "end_lat"):
        op.drop_column("rides", column)
