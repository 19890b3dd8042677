"""On PostgreSQL: ids of 64 bits and text without a limit, as SQLite has them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"
branch_labels = None
depends_on = None

KEPT = "alembic_version"


def upgrade() -> None:
    """Widen columns: ids of timeline events may exceed 2**31, and a long text must be storable."""
    _change(sa.Integer, sa.BigInteger, "bigint")
    _change(sa.VARCHAR, sa.Text, None)


def downgrade() -> None:
    """Nothing to undo: the wider columns hold all that the narrower ones did."""


def _change(narrow: type[Any], wide: type[Any], sequence: str | None) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    seen = sa.inspect(connection)
    for table in seen.get_table_names():
        for column in seen.get_columns(table):
            if table == KEPT or not _is(column["type"], narrow, wide):
                continue
            op.alter_column(
                table, column["name"], type_=wide(), existing_nullable=column["nullable"]
            )
            if sequence and column["name"] == "id":
                op.execute(sa.text(f'ALTER SEQUENCE "{table}_id_seq" AS {sequence}'))


def _is(found: Any, narrow: type[Any], wide: type[Any]) -> bool:
    """Whether a column is of the narrow kind; text that never had a limit is left alone."""
    return (
        isinstance(found, narrow)
        and not isinstance(found, wide)
        and getattr(found, "length", 1) is not None
    )
