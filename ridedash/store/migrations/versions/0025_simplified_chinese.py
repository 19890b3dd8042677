"""Chinese that the desk noted for a guest is named by its letters, as pages are."""

from alembic import op

revision = "0025"
down_revision: str | None = "0024"
branch_labels = None
depends_on = None

SIMPLIFIED = "UPDATE guests SET language = 'zh_Hans' WHERE language = 'zh'"
ANY = "UPDATE guests SET language = 'zh' WHERE language IN ('zh_Hans', 'zh_Hant')"


def upgrade() -> None:
    """What was offered as Chinese is what the page can be in.

    A process of the release before may write the old name a little longer. It is understood as
    well (`ridedash/wording/readers.py`), but the form does not know it.
    """
    op.execute(SIMPLIFIED)


def downgrade() -> None:
    """Give both back their one name."""
    op.execute(ANY)
