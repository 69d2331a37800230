"""The protocol of the Husky Robotics simulator: a WebSocket client of the team's rover server."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from skerry.core.config import Positive
from skerry.parts.interface import Interface, InterfaceConfig

WAYPOINTS = {
    "Origin": (0.0, 0.0),
    "North": (0.0, 25.0),
    "East": (25.0, 0.0),
    "South": (0.0, -25.0),
    "West": (-25.0, 0.0),
}
"""Those of the original's scene, as the console lists them."""


class Husky(InterfaceConfig):
    """The simulator as the rover server of Husky Robotics knows it."""

    kind: Literal["husky"] = "husky"
    url: str = Field(
        "ws://localhost:3001/simulator", pattern=r"^wss?://[^/\s]+", description="where the rover server listens"
    )
    robot: str | None = Field(None, description="the rover; by default the robot that has the profile's motors")
    profile: Literal["spec", "2023", "2024", "latest"] = Field(
        "spec", description="names and signs: as documented, as of these years, or as of 2025 and later"
    )
    limit_message: Literal["alert", "report", "off"] | None = Field(
        None, description="how a limit switch is told; by default `alert` with `spec` and `report` with the others"
    )
    retry: Positive = Field(1.0, description="s between two attempts to connect")
    console: bool = Field(False, description="take commands of the original's console from the standard input")
    waypoints: dict[str, tuple[float, float]] = Field(
        WAYPOINTS, description="places that the console knows: x east and y north, m"
    )

    @field_validator("profile", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """YAML reads a year as a number."""
        return str(value) if isinstance(value, int) else value

    def build(self) -> Interface:
        from skerry.interfaces.husky.rover import HuskyInterface

        return HuskyInterface(self)
