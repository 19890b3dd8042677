"""Alembic's environment. It runs in the transaction of Database.upgrade(), never offline."""

from alembic import context

# imported for their tables, the target of the migrations
from ridedash.store import audit  # noqa: F401
from ridedash.store.database.database import Base
from ridedash.store.models import desk, kiosks, lists, orders, people, restores  # noqa: F401

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
