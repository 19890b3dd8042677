"""The command line: `ridedash up | worker | sandbox | db upgrade | staff add | ...`"""

import argparse
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ridedash.__about__ import __version__
from ridedash.cli.errors import CommandError
from ridedash.config import BadSettingError, load
from ridedash.observability.process import prepare
from ridedash.secrets_file import BadInstanceError, remedy

EPIPE_CODE = 141  # the exit code that a shell shows for a program that SIGPIPE ended
STAFF_ROLES = ("concierge", "manager", "admin")  # from the least to the most that they may do
WITH_METRICS = ("up", "worker")  # commands that count for /metrics
EVERY_S: Final = 3.0  # a start that is silent for longer looks as if it had stopped


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command. An error that the user can mend is printed, and ends it with code 2."""
    options = _parser().parse_args(argv)
    try:
        prepare(load(os.environ), options.command, counts=options.command in WITH_METRICS)
        _run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader of the output has closed the pipe, as in `ridedash doctor | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EPIPE_CODE)
    except (CommandError, BadSettingError, BadInstanceError) as error:
        print(f"ridedash: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        what_to_do = remedy(error)
        if not what_to_do:
            raise
        where = f"{error.filename}: " if error.filename else ""
        print(f"ridedash: {where}{error.strerror}. {what_to_do}", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ridedash", description="A ride desk. Settings are environment variables."
    )
    parser.add_argument("--version", action="version", version=f"ridedash {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _up(commands.add_parser("up", help="serve dashboard, worker and, in a demo, the sandbox"))
    commands.add_parser("worker", help="send orders and follow rides, until stopped")
    sandbox = commands.add_parser(
        "sandbox", help="serve the sandbox of the ride booking service (demo mode)"
    )
    # a listening socket inherited from `up`, and whether the first search must be fast
    sandbox.add_argument("--socket", type=int, help=argparse.SUPPRESS)
    sandbox.add_argument("--warmed", action="store_true", help=argparse.SUPPRESS)
    _db(commands.add_parser("db", help="the database"))
    _staff(commands.add_parser("staff", help="people who sign in"))
    account = commands.add_parser("account", help="linked accounts").add_subparsers(
        dest="action", required=True
    )
    _account_link(
        account.add_parser("link", help="link an account of the service by a token handed over")
    )
    _erase(
        commands.add_parser(
            "erase", help="forget a guest: name, phone and room go, the rides' figures stay"
        )
    )
    keys = commands.add_parser("keys", help="keys of stored tokens").add_subparsers(
        dest="action", required=True
    )
    keys.add_parser("rotate", help="encrypt everything with the first key of RIDEDASH_TOKEN_KEYS")
    _kiosk(commands.add_parser("kiosk", help="screens on which guests book"))
    commands.add_parser("doctor", help="check everything that ridedash stands on, a line each")
    return parser


def _up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--demo-stage", action="store_true", help="open the stage of the demo in a browser"
    )


def _kiosk(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser(
        "check", help="what is missing for each kiosk: TLS, voices, fonts, clock, PIN, release"
    )


def _db(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("upgrade", help="bring the tables to this version")
    accept = actions.add_parser("accept-restore", help="order again what is held since a restore")
    accept.add_argument(
        "--anyway",
        action="store_true",
        help="even though journals of what was sent are lost: nothing is compared with those",
    )
    restored = actions.add_parser("restored-at", help="hold what is planned: a backup was restored")
    restored.add_argument(
        "moment",
        help="when the backup was made, such as 2026-03-01T15:28 in this machine's time zone, or "
        "2026-03-01T15:28+05:30",
    )


def _staff(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    by_stdin = "the password is read from standard input"
    _staff_add(actions.add_parser("add", help=f"add a member of staff; {by_stdin}"))
    listed = actions.add_parser("list", help="all staff: name, role, property, who is disabled")
    listed.add_argument("--property", dest="property_name", help="of one property only")
    for action, what in (
        ("password", f"set a new password, which ends all sign-ins of the person; {by_stdin}"),
        ("disable", "let a person sign in no more, and end their sign-ins"),
        ("enable", "let a person sign in again"),
        ("promote", "give a person the next higher role"),
        ("demote", "give a person the next lower role"),
    ):
        changed = actions.add_parser(action, help=what)
        changed.add_argument("--name", required=True, help="the name that they sign in with")
        if action == "password":
            by_link = "print a link by which the person sets it, once and within 24 hours"
            changed.add_argument("--link", action="store_true", help=by_link)
        if action in ("promote", "demote"):
            changed.add_argument("--to", choices=STAFF_ROLES, help="the role, if not the next one")
            roles = STAFF_ROLES if action == "promote" else STAFF_ROLES[::-1]
            changed.set_defaults(roles=roles)


def _staff_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--property", required=True, dest="property_name", help="name of the property"
    )
    parser.add_argument(
        "--new-property", action="store_true", help="make the property, which must not be there yet"
    )
    parser.add_argument(
        "--name", required=True, help="the name to sign in with, shown to colleagues too"
    )
    parser.add_argument(
        "--role",
        default=STAFF_ROLES[0],
        choices=STAFF_ROLES,
        help="what they may do (default: %(default)s)",
    )
    zone = "of a new property, for example Asia/Kolkata (default: %(default)s)"
    parser.add_argument("--timezone", default="UTC", help=zone)
    parser.add_argument(
        "--country", help="of a new property: two letters, for phone numbers without a country code"
    )


def _account_link(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--property", required=True, dest="property_name", help="name of the property"
    )
    parser.add_argument(
        "--label", required=True, help="what staff see, for example 'House account'"
    )
    parser.add_argument(
        "--access-token-stdin",
        action="store_true",
        required=True,
        help="read it from standard input",
    )
    parser.add_argument(
        "--default", action="store_true", help="book with this account unless another is chosen"
    )
    parser.add_argument(
        "--affiliate-uid",
        default="",
        help="sent with each booking of this account, where the service asks for one",
    )


def _erase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--property", required=True, dest="property_name", help="name of the property"
    )
    parser.add_argument(
        "--guest", required=True, help="the guest's phone number; or the name, with --room"
    )
    parser.add_argument(
        "--room", help="the guest's room or reference, when --guest is a name; '' for none"
    )


def _run(options: argparse.Namespace) -> None:
    # Each command imports what it needs: the sandbox starts without the dashboard, `--help` without
    # either.
    if options.command == "sandbox":
        from ridedash.cli.sandbox_process import serve

        serve(os.environ, options.socket, warmed=options.warmed)
    elif options.command == "up":
        with telling("loading the program") as tell:
            from ridedash.cli.up import up

            up(os.environ, tell, with_stage=options.demo_stage)
    elif options.command == "doctor":
        from ridedash.cli.doctor import doctor

        sys.exit(doctor(os.environ))
    elif options.command == "kiosk":
        from ridedash.cli.kiosk import check

        sys.exit(check(os.environ))
    else:
        from ridedash.cli import commands

        commands.run(options, os.environ)


@contextlib.contextmanager
def telling(what: str) -> Iterator[Callable[[str], None]]:
    """Say every few seconds what is being done, to the person who waits for a slow start.

    Yields a function that takes what is done next; "" when the start has ended.
    """
    doing = what
    ended = threading.Event()
    turn = threading.Lock()  # nothing is said any more once tell("") has returned

    def say() -> None:
        while not ended.wait(EVERY_S):
            with turn:
                if doing:
                    print(f"  … {doing}", flush=True)

    def tell(next_: str) -> None:
        nonlocal doing
        with turn:
            doing = next_
        if not next_:
            ended.set()

    threading.Thread(target=say, name="telling", daemon=True).start()
    try:
        yield tell
    finally:
        tell("")
