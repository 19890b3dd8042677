"""`python -m ridedash.cli` is the command `ridedash`."""

from ridedash.cli import main

main()
