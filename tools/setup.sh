#!/bin/sh
# Makes the virtual environment $1 and installs the lock file $2 and the project into it.
# Set PYTHON to choose an interpreter.
set -eu
venv=$1
lock=$2

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$name" >/dev/null 2>&1 && fits "$name"; then
            echo "$name"
            return
        fi
    done
}

if [ ! -x "$venv/bin/python" ] || ! fits "$venv/bin/python"; then
    python=$(find_python)
    if [ -z "$python" ]; then
        found=$(command -v python3 >/dev/null 2>&1 && python3 --version 2>&1 || echo "no python3")
        echo "ridedash needs Python 3.11 or newer; this machine has $found. Install it, or set PYTHON=/path/to/python3.11." >&2
        exit 1
    fi
    rm -rf "$venv"
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        echo "Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv" >&2
        exit 1
    fi
fi
echo "Setting up $venv from $lock (once; a minute or so)" >&2
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
