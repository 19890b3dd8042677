"""A stand-in for the ride booking service, with its own Flask app, database and process."""

from ridedash.sandbox.app import create_sandbox
from ridedash.sandbox.oauth.tokens import mint_token
from ridedash.sandbox.settings import SandboxSettings
from ridedash.sandbox.users import SANDBOX_USERS, SandboxUser

__all__ = ["SANDBOX_USERS", "SandboxSettings", "SandboxUser", "create_sandbox", "mint_token"]
