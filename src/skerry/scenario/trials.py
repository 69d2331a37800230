"""Settings for sea trials: the commands of a vehicle for ahead, astern and helm."""

from __future__ import annotations

from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive


class TrialsConfig(Config):
    """Commands for sea trials, by actuator or by setpoint of a controller (`flight.speed_kn`), in their own units."""

    length: Positive = Field(
        description="length of the hull, m, as the unit of distances; at the waterline if it floats"
    )
    depth: NonNegative = Field(0.0, description="depth of the trials, m; 0 at the surface")
    ahead: dict[str, float] = Field(min_length=1, description="commands for full speed ahead")
    astern: dict[str, float] = Field(min_length=1, description="commands for stopping")
    helm: dict[str, float] = Field(
        min_length=1, description="change of the commands per degree of helm; positive turns to starboard"
    )
    hard_over_deg: Positive = Field(description="largest helm angle, degrees of the rudder or its equivalent")
    hold: dict[str, dict[str, float]] = Field(
        {}, description="setpoints of controllers during the trials, such as {autopilot: {depth: 20, pitch_deg: 0}}"
    )

    @property
    def commanded(self) -> list[str]:
        """Names of all commanded actuators and setpoints."""
        return list(dict.fromkeys([*self.ahead, *self.astern, *self.helm]))
