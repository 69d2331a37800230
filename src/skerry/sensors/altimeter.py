"""Single-beam altimeter: range of the first echo within a cone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.echo_batches import BUCKET_DRAWS, add_noise_batch
from skerry.sensors.raycast.sonar import Fan, SonarConfig, SonarSensor

GOLDEN = np.pi * (3.0 - np.sqrt(5.0))  # golden angle, rad; successive multiples fill a disc evenly


@dataclass(frozen=True)
class AltimeterReading:
    """First echo of a ping, if there was one."""

    time: float = unit("s")
    range: float = unit("m")  # NaN without an echo
    intensity: float = unit("µPa²")  # of all echoes in the cone, after gain; 0 without an echo


class AltimeterSensor(SonarSensor[AltimeterReading]):
    """Altimeter that measures the range of the nearest body in its cone."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[AltimeterReading]:
        config, pings = self.config, self.pings(view, noise)
        ranges, _, _, intensity = pings.echoes
        first = np.fmin.reduce(ranges, axis=1).astype(np.float64)  # NaN only if all are NaN
        draws, received = np.ones(len(view)), np.empty(len(view))
        if self._is_random:
            draws[:] = [-math.log(u) for u in noise.uniforms(pings.ticks, 1, BUCKET_DRAWS)[:, 0].tolist()]
        add_noise_batch(
            intensity.sum(axis=1, dtype=np.float64),
            first,
            draws,
            self._noise,
            config.speckle,
            config.tvg,
            config.tvg_spreading / 10.0,
            pings.absorption,
            config.gain,
            received,
        )
        received[np.isnan(first)] = 0.0
        return Readings(AltimeterReading, {"time": view.times, "range": first, "intensity": received}, pings.valid)


class Altimeter(SonarConfig):
    """Altimeter that points down. Its cone is as wide as its −3 dB breadth."""

    kind: Literal["altimeter"] = "altimeter"
    frequency_khz: float = Field(500.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    beam_breadth_deg: float = Field(6.0, gt=0, lt=180, description="angle of the cone, from edge to edge")
    rays_per_beam: int = Field(
        61, ge=1, le=65536, description="rays, spread evenly over the cone; the first is along its axis"
    )
    tvg_spreading: float = Field(20.0, ge=0, le=100, description="time-varied gain, dB per decade of range")

    def build(self) -> AltimeterSensor:
        half = np.radians(self.beam_breadth_3db) / 2
        number = np.arange(self.rays_per_beam)
        off_axis = np.arccos(1.0 - number / max(self.rays_per_beam - 1, 1) * (1.0 - np.cos(half)))
        around = number * GOLDEN
        out = np.stack([np.cos(around), np.sin(around), np.zeros(len(number))], axis=-1)
        down = np.array([0.0, 0.0, -1.0])
        directions = np.cos(off_axis)[:, None] * down + np.sin(off_axis)[:, None] * out
        share = 2.0 * np.pi * (1.0 - np.cos(half)) / self.rays_per_beam
        return AltimeterSensor(self, Fan(directions, out, off_axis, np.full(len(number), share), 0.0))
