"""The stories of the demo, in the order in which they are offered."""

from typing import Final

from ridedash.demo.stories.alone import GUEST_ALONE
from ridedash.demo.stories.changes import SHARE, SWAP
from ridedash.demo.stories.evening import EVENING
from ridedash.demo.stories.everyday import DRIVER_CANCELS, START_TO_RECEIPT
from ridedash.demo.stories.five import FIVE_MINUTES
from ridedash.demo.stories.model import Story
from ridedash.demo.stories.refusals import NO
from ridedash.demo.stories.rush import RUSH_HOUR
from ridedash.demo.stories.trouble import DOWN, UNKNOWN

STORIES: Final[dict[str, Story]] = {
    story.id: story
    for story in (
        *(FIVE_MINUTES, START_TO_RECEIPT, SHARE, DRIVER_CANCELS, SWAP, UNKNOWN, DOWN),
        *(RUSH_HOUR, EVENING, NO, GUEST_ALONE),
    )
}
