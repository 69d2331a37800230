"""A Doppler velocity log: beams that measure range and radial speed, and the velocity that follows from them.

Beam k gives its speed towards what it hits, b_k = d_k · (v − v_hit), with d_k the beam's direction, v the velocity of
the transducer (lever arm included) and v_hit that of the bottom, or of what else was hit there; all of them with
independent noise. The velocity is their least-squares solution, v = (DᵀD)⁻¹ Dᵀ b, and its covariance σ² (DᵀD)⁻¹
(Brokloff 1994, Matrix algorithm for Doppler sonar navigation, OCEANS).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose, rotate
from skerry.core.kernels import kernel
from skerry.core.noise import Noise
from skerry.parts.sensor import Truth
from skerry.rays import Bundle, RayView
from skerry.sensors.ray_sensor import RaySensor, RaySensorConfig

Floats = NDArray[np.float64]
Track = Literal["bottom", "water", "none"]
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
NOTHING = np.full(3, np.nan), np.full((3, 3), np.nan)


@dataclass(frozen=True, eq=False)
class DvlReading:
    """What a ping gave. A beam that missed has NaN for its range and speed, and so has the velocity without a lock."""

    time: float
    bottom_lock: bool
    track: Track  # what the velocity is relative to
    velocity: Floats  # (3,), of the sensor, in its own axes, m/s
    covariance: Floats  # (3, 3), (m/s)²
    altitude: float  # straight down to the bottom, m; NaN if nothing is within range there
    ranges: Floats  # (beams,), m
    beam_velocities: Floats  # (beams,), towards what was hit, m/s
    hits: int  # beams that found the bottom


@kernel
def hear(
    motion: Any,
    beams: Any,
    distances: Any,
    bodies: Any,
    rows: Any,
    motions: Any,
    level: float,
    nearest: float,
    fastest: float,
    heard: Any,
) -> None:
    """The range of each beam, infinite if it is not heard, and its speed towards what it hit: rows of `heard` (2, n).

    `motion` is the sensor's (13,); `rows` leads from what was hit to its own motion in `motions`, −1 if it never moves.
    """
    x, y, z, w = motion[3], motion[4], motion[5], motion[6]
    for k in range(len(distances)):
        a, b, c = beams[k, 0], beams[k, 1], beams[k, 2]
        dx = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - z * w) * b + 2 * (x * z + y * w) * c
        dy = 2 * (x * y + z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - x * w) * c
        dz = 2 * (x * z - y * w) * a + 2 * (y * z + x * w) * b + (1 - 2 * (x * x + y * y)) * c
        speed = dx * motion[7] + dy * motion[8] + dz * motion[9]
        r = np.float64(distances[k])
        # What is too near hides what is behind it, and what lies above the water is not heard.
        if not nearest <= r < np.inf or motion[2] + r * dz >= level:
            heard[0, k], heard[1, k] = np.inf, speed
            continue
        row = rows[bodies[k]]
        if row >= 0:
            m = motions[row]
            px, py, pz = motion[0] + r * dx - m[0], motion[1] + r * dy - m[1], motion[2] + r * dz - m[2]
            speed -= dx * (m[7] + m[11] * pz - m[12] * py)
            speed -= dy * (m[8] + m[12] * px - m[10] * pz)
            speed -= dz * (m[9] + m[10] * py - m[11] * px)
        heard[0, k] = r if abs(speed) <= fastest else np.inf
        heard[1, k] = speed


class DvlSensor(RaySensor[DvlReading]):
    """Measures velocity over ground, or through the water."""

    def __init__(self, config: Dvl) -> None:
        super().__init__(config, Bundle(config.directions()))
        self._config = config
        self._beams = config.directions()
        self._down = Bundle([[0.0, 0.0, -1.0]])

    def measure(self, truth: Truth, noise: Noise) -> DvlReading | None:
        config = self._config
        motion = truth.motion(config.link, self._offset)
        pose, velocity = Pose.of(motion[:7]), motion[7:10]
        level = truth.depth(pose.position) + float(pose.position[2])
        if pose.position[2] >= level:
            return None
        count = config.beams
        found = self.look(truth, pose, config.max_range)
        view: RayView = truth.rays
        heard = np.empty((2, count))
        hear(
            motion,
            self._beams,
            found.distance,
            found.body,
            view.scene.rows,
            view.motion,
            level,
            config.min_range,
            config.max_speed,
            heard,
        )
        ranges, speeds = heard
        on_bottom = ranges < np.inf
        drawn = noise.normal(truth.tick, (3, count))
        hits = int(np.count_nonzero(on_bottom))
        locked = hits >= config.minimum_hits
        used = on_bottom
        track: Track = "bottom" if locked and config.track != "water" else "none"
        if track == "none" and config.track != "bottom":
            speeds, used = self._through_water(truth, pose, velocity, ranges)
            track = "water" if np.count_nonzero(used) >= config.minimum_hits else "none"
        noisy = np.where(used, speeds + config.velocity_noise * drawn[0], np.nan)
        solved, covariance = NOTHING
        if track != "none":
            solver, per_variance = _solver(self._beams.tobytes(), used.tobytes())
            solved = solver @ noisy[used]
            covariance = config.velocity_noise**2 * per_variance
        return DvlReading(
            truth.time,
            locked,
            track,
            solved,
            covariance,
            self._altitude(view, pose) + config.range_noise * float(drawn[2, 0]),
            np.where(on_bottom, ranges + config.range_noise * drawn[1], np.nan),
            noisy,
            hits,
        )

    def _altitude(self, view: RayView, pose: Pose) -> float:
        """Straight down in the world."""
        config = self._config
        upright = Pose(pose.position, UPRIGHT)
        reach = float(view.cast(self._down, upright, config.max_range, see_self=config.see_self).distance[0])
        return reach if config.min_range <= reach < np.inf else float("nan")

    def _through_water(
        self, truth: Truth, pose: Pose, velocity: Floats, ranges: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The beams' speeds through the water of a layer, and which of them reach it: those not cut off before."""
        near, far = self._config.water_layer
        directions = rotate(pose.orientation, self._beams)
        steps = np.linspace(near, far, 5)
        points = pose.position + directions[:, None] * steps[:, None]
        water = truth.sample_water(points)
        inside = (points[..., 2] < water.height) & (steps < ranges[:, None])
        flow = np.where(inside[..., None], water.velocity, 0.0).sum(axis=1)
        cells = inside.sum(axis=1)
        mean = flow / np.maximum(cells, 1)[:, None]
        return np.einsum("ij,ij->i", directions, velocity - mean), cells == len(steps)


@lru_cache(maxsize=64)
def _solver(beams: bytes, heard: bytes) -> tuple[Floats, Floats]:
    """(DᵀD)⁻¹ Dᵀ and (DᵀD)⁻¹ of the beams that were heard."""
    d = np.frombuffer(beams).reshape(-1, 3)[np.frombuffer(heard, np.bool_)]
    inverse: Floats = np.linalg.inv(d.T @ d).astype(np.float64)
    return inverse @ d.T, inverse


class Dvl(RaySensorConfig):
    """A Doppler velocity log that looks down: its beams lean away from the mount's −z."""

    kind: Literal["dvl"] = "dvl"
    beams: int = Field(4, ge=3, le=64, description="how many")
    minimum_hits: int = Field(3, ge=3, description="beams that must hear the bottom for a lock; three make a velocity")
    janus_angle_deg: float = Field(22.5, gt=0, lt=90, description="between each beam and −z")
    rotation_offset_deg: float = Field(
        135.0, ge=-360, le=360, description="azimuth of the first beam, clockwise from forward, seen from above"
    )
    min_range: NonNegative = Field(0.05, description="m")
    max_range: Positive = Field(50.0, description="m")
    max_speed: Positive = Field(9.0, description="m/s along a beam; faster ones are not heard")
    track: Literal["bottom", "water", "auto"] = Field(
        "bottom", description="velocity over ground, through the water, or through the water where there is no lock"
    )
    water_layer: tuple[Positive, Positive] = Field((2.0, 6.0), description="m along the beams, for the water track")
    velocity_noise: NonNegative = Field(0.001, description="standard deviation of each beam's speed, m/s")
    range_noise: NonNegative = Field(0.001, description="standard deviation of each range, m")

    @model_validator(mode="after")
    def _fit(self) -> Dvl:
        if self.minimum_hits > self.beams:
            raise ValueError(f"`minimum_hits` must not be above `beams`, {self.beams}")
        if self.min_range >= self.max_range:
            raise ValueError("`min_range` must be below `max_range`")
        if self.water_layer[0] >= self.water_layer[1]:
            raise ValueError("`water_layer` must begin before it ends")
        return self

    def directions(self) -> Floats:
        """Of the beams in the sensor's frame, (beams, 3)."""
        azimuth = np.radians(self.rotation_offset_deg + 360.0 / self.beams * np.arange(self.beams))
        janus = np.radians(self.janus_angle_deg)
        flat = np.sin(janus)
        return np.column_stack([flat * np.cos(azimuth), -flat * np.sin(azimuth), np.full(self.beams, -np.cos(janus))])

    def build(self) -> DvlSensor:
        return DvlSensor(self)
