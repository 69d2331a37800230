"""WebSocket client of the rover server of Husky Robotics, with the protocol of the team's own simulator."""

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
"""Waypoints of the original scene, east and north, m."""


class Husky(InterfaceConfig):
    """Settings of the connection to a rover server of Husky Robotics."""

    kind: Literal["husky"] = "husky"
    url: str = Field(
        "ws://localhost:3001/simulator", pattern=r"^wss?://[^/\s]+", description="address of the rover server"
    )
    robot: str | None = Field(
        None, description="name of the rover; default: the robot that has the motors of the profile"
    )
    profile: Literal["spec", "2023", "2024", "latest"] = Field(
        "spec",
        description="version of names and signs: `spec` as documented, `2023`, `2024`, or `latest` for 2025 and later",
    )
    limit_message: Literal["alert", "report", "off"] = Field(
        "report", description="message for a limit switch: `report` as the original sends it, `alert` as documented"
    )
    retry: Positive = Field(1.0, description="time between two attempts to connect, s")
    console: bool = Field(False, description="read commands of the original console from the standard input")
    waypoints: dict[str, tuple[float, float]] = Field(
        WAYPOINTS, description="waypoints of the console: x east and y north, m"
    )

    @field_validator("profile", mode="before")
    @classmethod
    def _number_to_text(cls, value: Any) -> Any:
        """Convert a number to text, because YAML reads a year as a number."""
        return str(value) if isinstance(value, int) else value

    def build(self) -> Interface:
        from skerry.interfaces.husky.interface import HuskyInterface

        return HuskyInterface(self)
