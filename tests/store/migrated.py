"""Runs one migration again, on rows that a test has written as they were before it."""

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory

from ridedash.store.database.database import Database
from ridedash.store.database.migrate import alembic_config


def migrate(db: Database, revision: str, direction: str) -> None:
    """Run one migration alone, whatever the revision; `direction` is "upgrade" or "downgrade"."""
    script = ScriptDirectory.from_config(alembic_config()).get_revision(revision)
    assert script is not None
    with (
        db.engine.begin() as connection,
        Operations.context(MigrationContext.configure(connection)),
    ):
        getattr(script.module, direction)()
