"""Settings of a topic whose waypoints are displayed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from skerry.core.config import Config


class WaypointConfig(Config):
    """Topic whose waypoints are displayed."""

    topic: str = Field(
        min_length=1, pattern="^/", description="absolute name of the topic, smarc_mission_msgs/GotoWaypoint"
    )
    mode: Literal["line", "position"] = Field(
        "line", description="`line`: draw a circle and a line; `position`: move `object` to the waypoint"
    )
    object: str | None = Field(None, description="movable object of the scenario that is moved to the waypoint")

    @model_validator(mode="after")
    def _fits(self) -> WaypointConfig:
        if (self.object is not None) != (self.mode == "position"):
            raise ValueError("`object` requires `mode: position`, and `mode: position` requires `object`")
        return self
