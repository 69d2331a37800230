"""Height function: an inclined plane."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.frames import heading_to_yaw
from skerry.terrain.function import Floats, FunctionConfig


class SlopeFunction(FunctionConfig):
    """Inclined plane."""

    kind: Literal["slope"] = "slope"
    height: float = Field(0.0, description="height at the centre of the field, m")
    slope_deg: float = Field(5.0, ge=0, lt=90, description="slope, degrees")
    heading_deg: float = Field(0.0, description="heading in which the plane rises")

    def heights(self, x: Floats, y: Floats) -> Floats:
        yaw = heading_to_yaw(self.heading_deg)
        rise = math.tan(math.radians(self.slope_deg))
        return self.height + rise * (np.cos(yaw) * x[None, :] + np.sin(yaw) * y[:, None])
