"""Alembic's environment: runs inside the transaction that Database.upgrade() holds; there is no offline mode."""

from alembic import context

from ridedash.store import audit, desk_tables, order_tables, people_tables  # noqa: F401 - their tables are the target
from ridedash.store.db import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
