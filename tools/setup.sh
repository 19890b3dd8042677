#!/bin/sh
# Makes the virtual environment $1 and installs the lock file $2 and the project into it.
# Set PYTHON to choose an interpreter.
set -eu
venv=$1
lock=$2

fits() { command -v "$1" >/dev/null 2>&1 && "$1" -c "import sys$2; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1; }

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if fits "$name" ""; then
            echo "$name"
            return
        fi
    done
}

python=$venv/bin/python
if ! fits "$python" ", pip"; then # also one whose making was interrupted, which has no pip
    python=$(find_python)
    if [ -z "$python" ]; then
        found=$(command -v python3 >/dev/null 2>&1 && python3 --version 2>&1 || echo "no python3")
        echo "ridedash needs Python 3.11 or newer; this machine has $found. Install it, or set PYTHON=/path/to/python3.11." >&2
        exit 1
    fi
    rm -rf "$venv"
fi
exec "$python" tools/set_up.py "$venv" "$lock"
