"""The ride booking service, played by us: its own Flask app, database file and process."""

from ridedash.sandbox.app import create_sandbox
from ridedash.sandbox.oauth.tokens import mint_token
from ridedash.sandbox.settings import SandboxSettings
from ridedash.sandbox.users import SANDBOX_USERS, SandboxUser

__all__ = ["SANDBOX_USERS", "SandboxSettings", "SandboxUser", "create_sandbox", "mint_token"]
