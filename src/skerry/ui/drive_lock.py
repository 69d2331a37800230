"""Who drives which robot from a page: one client a robot, until it lets go or goes away."""

from __future__ import annotations

from skerry.core.errors import SkerryError


class DriveLockHeld(SkerryError):
    """Another client drives the robot."""


class DriveLocks:
    """The drive_locks of all robots; in the server's thread only."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}

    def holder(self, robot: str) -> str | None:
        """The client that drives a robot."""
        return self._holders.get(robot)

    def check(self, robot: str, client: str) -> None:
        """Raise an error if another client drives the robot."""
        holder = self._holders.get(robot, client)
        if holder != client:
            raise DriveLockHeld(f"{holder} drives {robot!r}; wait until it lets go")

    def acquire(self, robot: str, client: str) -> None:
        """Drive a robot that nobody else drives."""
        self.check(robot, client)
        self._holders[robot] = client

    def release(self, robot: str, client: str) -> bool:
        """Let go; says whether it had the lease."""
        if self._holders.get(robot) != client:
            return False
        del self._holders[robot]
        return True

    def held_by(self, client: str) -> list[str]:
        """The robots that a client drives."""
        return [robot for robot, holder in self._holders.items() if holder == client]

    def clear(self) -> None:
        """Nobody drives any more."""
        self._holders.clear()
