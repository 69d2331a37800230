"""Drive locks: at most one client of the page drives a robot at a time."""

from __future__ import annotations

from skerry.core.errors import SkerryError


class DriveLockHeld(SkerryError):
    """Error: another client holds the drive lock of the robot."""


class DriveLocks:
    """Drive locks of all robots. Use it only in the server's thread."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}

    def holder(self, robot: str) -> str | None:
        """Return the client that drives a robot, or None."""
        return self._holders.get(robot)

    def check(self, robot: str, client: str) -> None:
        """Raise `DriveLockHeld` if another client drives the robot."""
        holder = self._holders.get(robot, client)
        if holder != client:
            raise DriveLockHeld(f"{holder} drives {robot!r}; wait until it releases the keys of the robot")

    def acquire(self, robot: str, client: str) -> None:
        """Give the drive lock of a robot to a client.

        Raises:
            DriveLockHeld: Another client drives the robot.
        """
        self.check(robot, client)
        self._holders[robot] = client

    def release(self, robot: str, client: str) -> bool:
        """Release the drive lock, and return whether the client held it."""
        if self._holders.get(robot) != client:
            return False
        del self._holders[robot]
        return True

    def held_by(self, client: str) -> list[str]:
        """Return the robots that a client drives."""
        return [robot for robot, holder in self._holders.items() if holder == client]

    def clear(self) -> None:
        """Release the drive locks of all robots."""
        self._holders.clear()
