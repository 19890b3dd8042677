"""`python -m ridedash.cli`, which is `ridedash`."""

from ridedash.cli import main

main()
