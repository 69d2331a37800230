"""A mechanically scanned imaging sonar: one narrow fan that turns a step with every ping."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import Readings, SensorView
from skerry.sensors.raycast.sonar import BucketConfig, BucketSonar, Bytes, Singles, forward_fan

SHORTEST_STEP = 10**12  # of the world's time, per second; nearer fractions are none that anybody writes


@dataclass(frozen=True, eq=False)
class MsisReading:
    """One ping of the scan."""

    time: float
    pose: Pose  # of the fan in the world, its x ahead of it
    angle: float  # rad to the left of the sensor's x, from −π to π
    bin_size: float  # m
    intensity: Singles  # (bins,), µPa² after time-varied gain
    levels: Bytes  # (bins,), as amplitudes


class MsisSensor(BucketSonar[MsisReading]):
    """Scans around."""

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[MsisReading | None]:
        assert isinstance(self.config, Msis)
        angles = [self.config.angle_at(tick, sensor_view.step) for tick in sensor_view.ticks.tolist()]
        pings = self.pings(sensor_view, noise, np.array(angles))
        found = self.fill(noise, pings)

        def make(k: int) -> MsisReading:
            (intensity,), (levels,) = found.intensity[k].copy(), found.levels[k].copy()
            return MsisReading(pings.times[k], pings.pose(k), angles[k], self.bucket_size, intensity, levels)

        return Readings(len(pings), make, valid=pings.valid)


class Msis(BucketConfig):
    """A mechanically scanned imaging sonar."""

    kind: Literal["msis"] = "msis"
    frequency_khz: float = Field(675.0, gt=0, le=10_000, description="of its sound, kHz")
    beam_breadth_deg: float = Field(30.0, gt=0, le=180, description="of the fan, from its upper to its lower edge")
    tilt_deg: float = Field(-15.0, ge=-90, le=90, description="from level down to the fan's upper edge")
    thickness_deg: float = Field(3.0, gt=0, le=90, description="of the fan, sideways")
    rays_per_beam: int = Field(128, ge=2, le=65536, description="spread evenly from the upper edge to the lower")
    bins: int = Field(400, ge=1, le=100_000, description="of range")
    max_range: Positive = Field(50.0, description="m")
    full_scale_db: float = Field(
        -40.0, ge=-200, le=200, description="level over the source level that fills a byte at a gain of 1, dB"
    )
    step_deg: float = Field(1.8, gt=0, le=180, description="that it turns between two pings")
    sector_deg: float = Field(
        360.0, gt=0, le=360, description="that it scans: all around clockwise if 360, else ahead, to and fro"
    )

    @model_validator(mode="after")
    def _fit_steps(self) -> Msis:
        if self.step_deg > self.sector_deg:
            raise ValueError(
                f"`step_deg` ({self.step_deg:g}°) must not be more than `sector_deg` ({self.sector_deg:g}°)"
            )
        return self

    def angle_at(self, tick: int, step: float) -> float:
        """Where it looks at a tick of the world's clock, rad to the left: a function of the pings there were so far."""
        ping = int(tick * self.frequency * Fraction(step).limit_denominator(SHORTEST_STEP))
        if self.sector_deg == 360.0:
            turned = -ping * self.step_deg
        else:
            steps = int(self.sector_deg / self.step_deg + 1e-9)
            place = steps - abs(ping % (2 * steps) - steps)
            turned = self.step_deg * (0.5 * steps - place)
        return float(np.radians((turned + 180.0) % 360.0 - 180.0))

    def build(self) -> MsisSensor:
        breadth, tilt, thickness = np.radians([self.beam_breadth_deg, self.tilt_deg, self.thickness_deg])
        fan = forward_fan(np.zeros(1), thickness, breadth, self.rays_per_beam, tilt)
        return MsisSensor(self, fan, 1, self.bins)
