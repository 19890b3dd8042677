"""`python -m bench.faults.writer URL TIMES`: write, and print how often the database was locked."""

import sys
from datetime import UTC, datetime

from ridedash.store import audit
from ridedash.store.database.database import Database, DatabaseBusy


def main() -> None:
    """Write a number of short transactions, one after the other."""
    db, locked = Database(sys.argv[1]), 0
    for number in range(int(sys.argv[2])):
        try:
            with db.write() as s:
                audit.record(s, "cli", "bench", f"bench:{number}", "ok", datetime.now(UTC))
        except DatabaseBusy:
            locked += 1
    db.close()
    print(locked)


if __name__ == "__main__":
    main()
