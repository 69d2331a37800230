"""Mechanically scanned imaging sonar: one narrow fan that rotates by a step with each ping."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Display, Rays, SonarScan
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.sonar import BucketConfig, BucketSonar, Bytes, Singles, forward_fan

MAX_DENOMINATOR = 10**12  # of the world's step as a fraction of a second; recovers the exact fraction from a float


@dataclass(frozen=True, eq=False)
class MsisReading:
    """Ping of a scan."""

    time: float = unit("s")
    pose: Pose = unit()  # pose of the fan in the world, with x along the fan
    angle: float = unit("rad")  # of the fan from the sensor's x axis, positive to the left, from −π to π
    bin_size: float = unit("m")
    intensity: Singles = unit("µPa²")  # (bins,), after gain
    levels: Bytes = unit("")  # (bins,), amplitudes


class MsisSensor(BucketSonar[MsisReading]):
    """Mechanically scanned imaging sonar."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[MsisReading]:
        assert isinstance(self.config, Msis)
        angles = np.array([self.config.angle_at(tick, view.step) for tick in view.ticks.tolist()])
        pings = self.pings(view, noise, angles)
        found = self.fill(noise, pings)
        return Readings(
            MsisReading,
            {
                "time": view.times,
                "pose": Readings.poses(pings.motions),
                "angle": angles,
                "bin_size": np.full(len(view), self.bucket_size),
                "intensity": found.intensity[:, 0],
                "levels": found.levels[:, 0],
            },
            pings.valid,
        )


class Msis(BucketConfig):
    """Mechanically scanned imaging sonar."""

    kind: Literal["msis"] = "msis"
    frequency_khz: float = Field(675.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    beam_breadth_deg: float = Field(30.0, gt=0, le=180, description="angle of the fan from its upper to its lower edge")
    tilt_deg: float = Field(-15.0, ge=-90, le=90, description="angle of the fan's upper edge below level")
    thickness_deg: float = Field(3.0, gt=0, le=90, description="horizontal thickness of the fan")
    rays_per_beam: int = Field(128, ge=2, le=65536, description="rays, spread evenly from the upper to the lower edge")
    bins: int = Field(400, ge=1, le=100_000, description="range bins")
    max_range: Positive = Field(50.0, description="maximum range, m")
    full_scale_db: float = Field(
        -40.0,
        ge=-200,
        le=200,
        description="received level, relative to the source level, that gives a byte of 255 at a gain of 1, dB",
    )
    step_deg: float = Field(1.8, gt=0, le=180, description="rotation between two pings")
    sector_deg: float = Field(
        360.0,
        gt=0,
        le=360,
        description="scanned sector: clockwise turns if 360, otherwise back and forth around straight ahead",
    )

    @model_validator(mode="after")
    def _fit_steps(self) -> Msis:
        if self.step_deg > self.sector_deg:
            raise ValueError(
                f"`step_deg` ({self.step_deg:g}°) must not be more than `sector_deg` ({self.sector_deg:g}°)"
            )
        return self

    def angle_at(self, tick: int, step: float) -> float:
        """Return the angle of the fan at a tick, rad, positive to the left. It depends on the number of pings only.

        Args:
            tick: Tick of the world's clock.
            step: Length of a tick, s.
        """
        ping = int(tick * self.frequency * Fraction(step).limit_denominator(MAX_DENOMINATOR))
        if self.sector_deg == 360.0:
            turned = -ping * self.step_deg
        else:
            steps = int(self.sector_deg / self.step_deg + 1e-9)
            position = steps - abs(ping % (2 * steps) - steps)
            turned = self.step_deg * (0.5 * steps - position)
        return float(np.radians((turned + 180.0) % 360.0 - 180.0))

    @property
    def display(self) -> tuple[Display, ...]:  # type: ignore[override]
        beams = max(round(self.sector_deg / self.step_deg), 1)
        sector = float(np.radians(self.sector_deg))
        return SonarScan("levels", "angle", "bin_size", sector=sector, beams=beams), Rays()

    def build(self) -> MsisSensor:
        breadth, tilt, thickness = np.radians([self.beam_breadth_deg, self.tilt_deg, self.thickness_deg])
        fan = forward_fan(np.zeros(1), thickness, breadth, self.rays_per_beam, tilt)
        return MsisSensor(self, fan, 1, self.bins)
