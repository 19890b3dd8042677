"""The users of the sandbox: some who may book, and one for each reason to refuse an account."""

from typing import Final, NamedTuple

from ridedash import wire


class SandboxUser(NamedTuple):
    """One user of the sandbox.

    `id` is the id at the OAuth server, `label` the name on the authorize page, and `rider` the
    name that co-passengers see.
    """

    id: str
    label: str
    rider: str
    refusal: str | None = None  # the code with which each create is refused
    balance: float = 2500.0  # wallet, in the city's currency
    affiliate: bool = False  # billed to an affiliate: each booking needs its affiliate_uid


SANDBOX_USERS: Final = (
    SandboxUser("house", "House account", "Rider Kestrel"),
    SandboxUser("due", "Account with an outstanding due", "Rider Curlew", wire.OUTSTANDING_DUE),
    SandboxUser("pending", "Account with a pending payment", "Rider Plover", wire.PAYMENT_PENDING),
    SandboxUser("credit", "Account with a credit due", "Rider Petrel", wire.SVC_CREDIT_DUE, 0.0),
    SandboxUser("banned", "Banned account", "Rider Skua", wire.BANNED_USER, 0.0),
    SandboxUser("affiliate", "Account billed to an affiliate", "Rider Fulmar", affiliate=True),
)

_BY_ID: Final = {user.id: user for user in SANDBOX_USERS}


def find_user(user_id: str) -> SandboxUser | None:
    """The user with this id, or None."""
    return _BY_ID.get(user_id)


def wallet_of(user_id: str) -> float:
    """The balance of this user's wallet before each ride, in the city's currency."""
    return _BY_ID[user_id].balance
