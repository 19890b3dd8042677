"""Guests whose language is "zh" get "zh_Hans", the code that pages use for simplified Chinese."""

from alembic import op

revision = "0025"
down_revision: str | None = "0024"
branch_labels = None
depends_on = None

TO_SIMPLIFIED = "UPDATE guests SET language = 'zh_Hans' WHERE language = 'zh'"
TO_ONE_CODE = "UPDATE guests SET language = 'zh' WHERE language IN ('zh_Hans', 'zh_Hant')"


def upgrade() -> None:
    """Rename the code: the form offered only "zh", whose pages were in simplified characters.

    A process of the previous release may write "zh" a little longer. Pages understand that code too
    (`ridedash/wording/readers.py`), but the form does not offer it.
    """
    op.execute(TO_SIMPLIFIED)


def downgrade() -> None:
    """Give simplified and traditional Chinese the single code of the previous release."""
    op.execute(TO_ONE_CODE)
