"""The secrets that a demo generates at its first start, in the instance folder (mode 0600)."""

import base64
import errno
import json
import os
import pwd
import secrets
from pathlib import Path
from typing import Final

# Each partner key of the sandbox begins with this prefix. A live desk with such a key rehearses on
# the sandbox and says so on every page; no real service accepts the key.
SANDBOX_KEY: Final = "ridedash-sandbox-"
# names of the secrets; a file that lacks one of them is damaged
NAMES: Final = (
    *("secret_key", "token_keys", "service_app_token"),
    *("oauth_client_secret", "staff_password"),
)
UNWRITABLE: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class BadInstanceError(Exception):
    """The instance folder can't be used; the message says why."""


def demo_secrets(instance: Path) -> dict[str, str]:
    """The secrets of this instance folder, generated if there are none yet.

    Safe when several processes start at once.

    Raises BadInstanceError when the folder can't be made, written or read.
    """
    path = instance / "secrets.json"
    try:
        if not path.exists():
            instance.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_once(path, _fresh())
        stored: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = f"RIDEDASH_INSTANCE: {instance} can't be used ({error.strerror})."
        raise BadInstanceError(f"{why} {remedy(error)}".rstrip()) from None
    except ValueError:
        stored = {}
    if not isinstance(stored, dict) or not all(isinstance(stored.get(name), str) for name in NAMES):
        raise BadInstanceError(
            f"RIDEDASH_INSTANCE: {path} is damaged; restore it from a copy, or begin anew with an "
            "empty folder."
        )
    return stored | {"service_app_token": _marked(stored["service_app_token"])}


def remedy(error: OSError) -> str:
    """Advice for an operator about an error of a file or folder; "" when there is none."""
    if error.errno in UNWRITABLE:
        return f"The user who runs ridedash ({_user()}) must be able to write there."
    if error.errno in FULL:
        return "The disk is full: make room, then start again."
    return ""


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # the user has no name, as in a container
        return f"number {os.geteuid()}"


def _marked(key: str) -> str:
    """A partner key with the prefix SANDBOX_KEY; a key of an earlier version may lack it."""
    return SANDBOX_KEY + key.removeprefix(SANDBOX_KEY)


def _fresh() -> dict[str, str]:
    return {
        "secret_key": secrets.token_urlsafe(48),
        "token_keys": "k1:" + base64.b64encode(secrets.token_bytes(32)).decode(),
        "service_app_token": SANDBOX_KEY + secrets.token_urlsafe(24),
        "oauth_client_secret": secrets.token_urlsafe(24),
        "staff_password": secrets.token_urlsafe(12),
    }


def _write_once(path: Path, content: dict[str, str]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file)
    try:
        # fails when another process was first: then all processes use its secrets
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
