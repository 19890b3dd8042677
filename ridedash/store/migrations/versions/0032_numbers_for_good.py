"""Row numbers that a restore or a failover never gives out again; lost journals are noticed."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database.numbers import SMALL, number_rows, postgresql_default

revision = "0032"
down_revision: str | None = "0031"
branch_labels = None
depends_on = None

# tables whose numbers come from a sequence of their own
_SEQUENCED = sa.text(
    "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema()"
    " AND column_name = 'id' AND column_default LIKE 'nextval(%' ORDER BY table_name"
)
_NUMBERED = sa.text(
    "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema()"
    " AND column_name = 'id' AND column_default LIKE '%statement_timestamp%' ORDER BY table_name"
)


# (table, column, whether it is a flag, which is off in existing rows)
_ADDED = (
    ("heartbeats", "compared", True),
    ("restores", "bare", True),
    ("lost_orders", "number", False),
)


def upgrade() -> None:
    """Add the columns, and on PostgreSQL set the default of each table's numbers.

    On SQLite the program numbers the rows itself.
    """
    for table, name, is_flag in _ADDED:
        kind = sa.Boolean() if is_flag else sa.BigInteger().with_variant(sa.Integer(), "sqlite")
        default = sa.false() if is_flag else None
        op.add_column(table, sa.Column(name, kind, nullable=not is_flag, server_default=default))
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in op.get_bind().scalars(_SEQUENCED).all():
        if table not in SMALL:
            number_rows(op.get_bind(), table)


def downgrade() -> None:
    """Drop the columns; number rows by the sequences alone, above all that were given."""
    for table, name, _is_flag in _ADDED:
        op.drop_column(table, name)
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in op.get_bind().scalars(_NUMBERED).all():
        last = f"SELECT max(id) FROM {table}"  # noqa: S608 - a name of the database's own
        first = f"greatest({postgresql_default(table)}, ({last}) + 1)"
        op.execute(f"SELECT setval('{table}_id_seq', {first}, false)")
        op.execute(f"ALTER TABLE {table} ALTER COLUMN id SET DEFAULT nextval('{table}_id_seq')")
