"""Settings of a topic whose waypoints are to be shown."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from skerry.core.config import Config


class WaypointConfig(Config):
    """A topic of waypoints to be shown."""

    topic: str = Field(min_length=1, pattern="^/", description="absolute; smarc_mission_msgs/GotoWaypoint")
    mode: Literal["line", "position"] = Field(
        "line", description="`line`: a circle and a line are drawn; `position`: an object is put there"
    )
    object: str | None = Field(None, description="that is put there, of those of the scenario; it must be movable")

    @model_validator(mode="after")
    def _fits(self) -> WaypointConfig:
        if (self.object is not None) != (self.mode == "position"):
            raise ValueError("`object` and `mode: position` go together")
        return self
