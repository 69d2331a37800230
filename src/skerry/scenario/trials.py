"""How a vehicle is handled in sea trials: what ahead, astern and helm mean for it."""

from __future__ import annotations

from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive


class TrialsConfig(Config):
    """Commands by actuator, or by dial of a controller as `flight.speed_kn`, in their own units."""

    length: Positive = Field(description="m, by which distances are judged: of the hull, at the waterline if it floats")
    depth: NonNegative = Field(0.0, description="m below the surface at which the trials are done; 0 afloat")
    ahead: dict[str, float] = Field(min_length=1, description="commands at full speed ahead")
    astern: dict[str, float] = Field(min_length=1, description="commands that stop it")
    helm: dict[str, float] = Field(
        min_length=1, description="what each degree of helm adds; positive turns to starboard, as heading grows"
    )
    hard_over_deg: Positive = Field(description="the largest helm, in degrees of the rudder or of what stands for it")
    hold: dict[str, dict[str, float]] = Field(
        {}, description="set-points that controllers hold meanwhile, such as {autopilot: {depth: 20, pitch_deg: 0}}"
    )

    @property
    def commanded(self) -> list[str]:
        """All that is commanded, by name."""
        return list(dict.fromkeys([*self.ahead, *self.astern, *self.helm]))
