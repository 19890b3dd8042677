"""The error that commands raise on purpose."""


class CommandError(Exception):
    """Why a command can't be run, in one sentence for the person at the keyboard."""
