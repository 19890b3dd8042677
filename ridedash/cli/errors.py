"""The one error that commands raise on purpose."""


class CommandError(Exception):
    """What a command cannot do, in one sentence for the person at the keyboard."""
