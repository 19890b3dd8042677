#!/bin/sh
# A tier of the tests (tests/tiers.py) on SQLite; of `make test`, many again on PostgreSQL
# (tests/statements.py).
# test.sh <bin folder> <jobs> quick|test|sweeps [pytest options]
set -eu
bin=$1
jobs=$2
tier=$3
shift 3
unset PYTHONDONTWRITEBYTECODE # tests start the program hundreds of times

# The tests' folders, with their SQLite files, in memory where there is room: each commit waits for a disk.
memory=/dev/shm # but not where it is mounted noexec, as in many containers: a test installs the program and runs it
free_gb=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print int($4 / 1048576) }')
in_memory=
if [ -z "${TMPDIR:-}" ] && [ -w "$memory" ] && [ "${free_gb:-0}" -ge 4 ] && ! grep -q " $memory [^ ]* [^ ]*noexec" /proc/mounts
then
    TMPDIR=$(mktemp -d "$memory/ridedash-tests.XXXXXX")
    export TMPDIR
    in_memory=$TMPDIR
fi

case $tier in
    quick) chosen="quick" ;;
    test) chosen="not engine and not sweep" ;;
    sweeps)
        chosen="sweep"
        RIDEDASH_TEST_TIER=$tier # only its files are collected
        export RIDEDASH_TEST_TIER
        ;;
esac

# The run on SQLite notes the statements of its tests, by which the run on PostgreSQL has its tests.
RIDEDASH_TEST_STATEMENTS=$(mktemp -d)
# All processes of both runs share the templates that one of them has compiled.
RIDEDASH_TEST_TEMPLATES=$(mktemp -d)
export RIDEDASH_TEST_STATEMENTS RIDEDASH_TEST_TEMPLATES

clean_up() {
    code=$?
    if [ "$code" = 1 ] && [ -n "$in_memory" ]; then # 1: a test failed
        echo "what the tests left is in $in_memory (memory)"
    else
        rm -rf "$RIDEDASH_TEST_STATEMENTS" "$RIDEDASH_TEST_TEMPLATES" ${in_memory:+"$in_memory"}
    fi
    exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

code=0
"$bin/pytest" -n "$jobs" -m "$chosen" "$@" || code=$?
[ "$tier $code" != "sweeps 5" ] || exit 0 # none of them was asked for
[ "$tier $code" = "test 0" ] || exit "$code"

if ! "$bin/python" -c 'import sys; from tests.backing import postgres_programs; sys.exit(postgres_programs() is None)'; then
    echo "PostgreSQL is not installed: the tests of the database ran on SQLite only (apt install postgresql)"
    [ "${RIDEDASH_TEST_SERVERS:-}" != required ]
    exit
fi
if [ -z "$(ls "$RIDEDASH_TEST_STATEMENTS")" ]; then
    echo "none of the chosen tests touches a database: nothing ran on PostgreSQL"
    [ "${RIDEDASH_TEST_SERVERS:-}" != required ]
    exit
fi
RIDEDASH_TEST_DATABASE=postgresql "$bin/pytest" -n "$jobs" -m "database and not browser and ($chosen)" "$@"
