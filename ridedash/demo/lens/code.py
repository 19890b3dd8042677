"""Shows a call as code that repeats it: a line of curl, or Python with httpx. Pure.

The code reads its two secrets from environment variables, APP_TOKEN and USER_TOKEN, and never
contains their values.
"""

import pprint
import shlex
from typing import Final

from ridedash.demo.lens.operations import object_in
from ridedash.demo.lens.store import RecordedCall

# the headers that are copied from the call, besides those with the two secrets
COPIED_HEADERS: Final = ("accept", "content-type")
WITHIN_S: Final = 10


def curl(call: RecordedCall, base_url: str = "") -> str:
    """The call as one line for a POSIX shell; without `base_url` the variable BASE is used."""
    words = ["curl", "--silent", "--show-error"]
    if call.method != "GET":
        words += ["--request", call.method]
    address = shlex.quote(base_url + call.path)
    words.append(address if base_url else f'"$BASE"{address}')
    for name in COPIED_HEADERS:
        if name in call.request.headers:
            words += ["--header", shlex.quote(f"{name}: {call.request.headers[name]}")]
    words += ["--header", '"X-APP-TOKEN: $APP_TOKEN"']
    if "Authorization" in call.request.headers:
        words += ["--header", '"Authorization: Bearer $USER_TOKEN"']
    if call.request.body:
        words += ["--data-raw", shlex.quote(call.request.body)]
    return " ".join(words)


def httpx_code(call: RecordedCall, base_url: str) -> str:
    """The call as a short Python program."""
    headers = ['    "X-APP-TOKEN": os.environ["APP_TOKEN"],']
    if "Authorization" in call.request.headers:
        headers.append('    "Authorization": f"Bearer {os.environ[\'USER_TOKEN\']}",')
    lines = ["import os", "", "import httpx", "", "headers = {", *headers, "}"]
    body = ""
    if call.request.body:
        sent = pprint.pformat(object_in(call.request.body), sort_dicts=False, width=88)
        lines.append(f"body = {sent}")
        body = ", json=body"
    address = repr(base_url + call.path)
    lines += [
        f"answer = httpx.{call.method.lower()}(",
        f"    {address},",
        f"    headers=headers{body}, timeout={WITHIN_S},",
        ")",
        "print(answer.status_code, answer.text)",
    ]
    return "\n".join(lines)
