"""The settings that the sandbox is started with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


def wall_clock() -> datetime:
    """The time of the machine as an aware datetime in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class SandboxSettings:
    """Everything that `create_sandbox` needs.

    `pace` (1 to 60) is the speed of the service's clock. A speed that was set through the control
    API outlasts a restart unless another pace is configured. `seed` determines drivers, plates,
    codes and every other random choice: the same seed and the same calls at the same times give the
    same answers. `control`: whether there is a control API; without it no scenario or fault can be
    set.
    """

    database: Path
    app_token: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    redirect_uris: tuple[str, ...] = ()
    pace: float = 1.0
    seed: int = 1
    control: bool = True
    clock: Callable[[], datetime] | None = None

    @property
    def wall(self) -> Callable[[], datetime]:
        """The configured clock, or else that of the machine."""
        return self.clock or wall_clock
