"""Doppler velocity log (DVL): beams that measure range and radial speed, and the velocity computed from them.

Beam k measures the speed towards its hit, b_k = d_k · (v − v_hit), with d_k the beam's direction, v the velocity of
the transducer (with its offset from the link) and v_hit the velocity of the bottom or body at the hit. The noise of
each beam is independent. The velocity is the least-squares solution, v = (DᵀD)⁻¹ Dᵀ b, and its covariance is
σ² (DᵀD)⁻¹ (Brokloff 1994, Matrix algorithm for Doppler sonar navigation, OCEANS).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose, rotate
from skerry.core.kernels import kernel, strict_kernel
from skerry.core.noise import Noise, fill_normal
from skerry.core.rotations import rotate_to_world
from skerry.core.units import unit
from skerry.parts.display import Rays, Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import SampleView, SensorView
from skerry.rays import Bundle
from skerry.sensors.raycast.ray_sensor import RaySensor, RaySensorConfig

Floats = NDArray[np.float64]
TrackReference = Literal["bottom", "water", "none"]


@dataclass(frozen=True, eq=False)
class DvlReading:
    """Ping of the DVL. Range and speed of a beam that missed are NaN, and so is the velocity without a lock."""

    time: float = unit("s")
    bottom_lock: bool = unit("")
    track: TrackReference = unit("")  # reference of the velocity: bottom, water, or none
    velocity: Floats = unit("m/s")  # (3,), velocity of the sensor in its own axes
    covariance: Floats = unit("(m/s)²")  # (3, 3)
    altitude: float = unit("m")  # distance straight down to the bottom; NaN if nothing is within range
    ranges: Floats = unit("m")  # (beams,)
    beam_velocities: Floats = unit("m/s")  # (beams,), speed towards the hit
    hits: int = unit("")  # number of beams with a bottom echo


@kernel
def measure_beams(
    motion: Any,
    beams: Any,
    distances: Any,
    bodies: Any,
    rows: Any,
    motions: Any,
    level: float,
    nearest: float,
    fastest: float,
    echoes: Any,
) -> int:
    """Write the range and speed of each beam, and return the number of beams with an echo.

    Args:
        motion: Motion of the sensor, (13,).
        beams: Unit vectors of the beams in the sensor's frame, (n, 3).
        distances: Distance of each beam's hit, (≥ n,), m.
        bodies: Body index of each hit, (≥ n,).
        rows: Row of each body in `motions`; −1 for a body that never moves.
        motions: Motions of the engine's bodies, (bodies, 13).
        level: Height of the water surface in the world, m.
        nearest: Minimum range, m.
        fastest: Maximum speed along a beam, m/s.
        echoes: Output (2, n): ranges, m, and speeds towards the hit, m/s. A beam without an echo has an infinite range
            and the speed over still ground.
    """
    x, y, z, w = motion[3], motion[4], motion[5], motion[6]
    hits = 0
    for k in range(len(beams)):
        dx, dy, dz = rotate_to_world(x, y, z, w, beams[k, 0], beams[k, 1], beams[k, 2])
        speed = dx * motion[7] + dy * motion[8] + dz * motion[9]
        r = np.float64(distances[k])
        # no echo from a hit that is too near, which also hides what is behind it, or from a hit above the water
        if not nearest <= r < np.inf or motion[2] + r * dz >= level:
            echoes[0, k], echoes[1, k] = np.inf, speed
            continue
        row = rows[bodies[k]]
        if row >= 0:
            m = motions[row]
            px, py, pz = motion[0] + r * dx - m[0], motion[1] + r * dy - m[1], motion[2] + r * dz - m[2]
            speed -= dx * (m[7] + m[11] * pz - m[12] * py)
            speed -= dy * (m[8] + m[12] * px - m[10] * pz)
            speed -= dz * (m[9] + m[10] * py - m[11] * px)
        echoes[1, k] = speed
        echoes[0, k] = r if abs(speed) <= fastest else np.inf
        hits += echoes[0, k] < np.inf
    return hits


@kernel
def solve(beams: Any, speeds: Any, used: Any, velocity: Any, per_variance: Any) -> None:
    """Write v = (DᵀD)⁻¹ Dᵀ b of the used beams, and (DᵀD)⁻¹, inverted by cofactors."""
    xx = xy = xz = yy = yz = zz = bx = by = bz = 0.0
    for k in range(len(beams)):
        if used[k]:
            x, y, z, b = beams[k, 0], beams[k, 1], beams[k, 2], speeds[k]
            xx, xy, xz, yy, yz, zz = xx + x * x, xy + x * y, xz + x * z, yy + y * y, yz + y * z, zz + z * z
            bx, by, bz = bx + b * x, by + b * y, bz + b * z
    m = per_variance
    m[0, 0], m[0, 1], m[0, 2] = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    m[1, 1], m[1, 2], m[2, 2] = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    scale = 1.0 / (xx * m[0, 0] + xy * m[0, 1] + xz * m[0, 2])
    m[1, 0], m[2, 0], m[2, 1] = m[0, 1], m[0, 2], m[1, 2]
    for i in range(3):
        for j in range(3):
            m[i, j] *= scale
        velocity[i] = m[i, 0] * bx + m[i, 1] * by + m[i, 2] * bz


@kernel
def solve_ping(
    beams: Any,
    echoes: Any,
    used: Any,
    has_track: bool,
    key0: int,
    key1: int,
    tick: int,
    velocity_noise: float,
    range_noise: float,
    velocity: Any,
    covariance: Any,
) -> float:
    """Add noise to the echoes (2, n), solve for the velocity, and return the noise of the altitude, m.

    `used` (n,) are the beams of the solution. Without a track, velocity (3,) and covariance (3, 3) are NaN.
    """
    n = len(beams)
    drawn = np.empty(3 * n)
    fill_normal(key0, key1, tick, 0, 0, drawn)
    ranges, speeds = echoes[0], echoes[1]
    for k in range(n):
        speeds[k] += velocity_noise * drawn[k]
    if has_track:
        solve(beams, speeds, used, velocity, covariance)
        for i in range(3):
            for j in range(3):
                covariance[i, j] *= velocity_noise * velocity_noise
    else:
        velocity[:] = np.nan
        covariance[:] = np.nan
    for k in range(n):
        if not used[k]:
            speeds[k] = np.nan
        ranges[k] = ranges[k] + range_noise * drawn[n + k] if ranges[k] < np.inf else np.nan
    return range_noise * drawn[2 * n]


@strict_kernel
def measure_beams_batch(
    sensor_motions: Any,
    valid: Any,
    beams: Any,
    distances: Any,
    bodies: Any,
    rows: Any,
    motions: Any,
    levels: Any,
    nearest: float,
    fastest: float,
    echoes: Any,
    hits: Any,
) -> None:
    """Run `measure_beams` for each valid ping: write echoes (n, 2, beams) and numbers of echoes (n,)."""
    for k in range(len(valid)):
        if valid[k]:
            hits[k] = measure_beams(
                sensor_motions[k],
                beams,
                distances[k],
                bodies[k],
                rows,
                motions[k],
                levels[k],
                nearest,
                fastest,
                echoes[k],
            )


@strict_kernel
def solve_pings_batch(
    valid: Any,
    beams: Any,
    echoes: Any,
    used: Any,
    has_track: Any,
    key0: int,
    key1: int,
    ticks: Any,
    velocity_noise: float,
    range_noise: float,
    velocity: Any,
    covariance: Any,
    errors: Any,
) -> None:
    """Run `solve_ping` for each valid ping: write velocities (n, 3), covariances (n, 3, 3) and altitude errors (n,)."""
    for k in range(len(valid)):
        if valid[k]:
            errors[k] = solve_ping(
                beams,
                echoes[k],
                used[k],
                has_track[k],
                key0,
                key1,
                ticks[k],
                velocity_noise,
                range_noise,
                velocity[k],
                covariance[k],
            )


class DvlSensor(RaySensor[DvlReading]):
    """DVL that measures the velocity over ground or through the water."""

    def __init__(self, config: Dvl) -> None:
        self._beams = config.directions()
        super().__init__(config, Bundle(self._beams, with_down_ray=True))  # the down ray measures the altitude
        self._config = config

    def measure(self, view: SensorView, noise: Noise) -> Readings[DvlReading]:
        config, count = self._config, len(view)
        motions = view.motion(config.link, self._offset)
        depths = view.depth(motions[:, :3])
        valid = depths > 0.0
        found = self.cast_rays(view, motions, valid, config.max_range)
        if not valid.any():
            return Readings.none(DvlReading, count)
        echoes, hits = np.zeros((count, 2, config.beams)), np.zeros(count, np.int64)
        caster = view.rays
        measure_beams_batch(
            motions,
            valid,
            self._beams,
            found.distance,
            found.body,
            caster.scene.rows,
            caster.motions,
            depths + motions[:, 2],
            config.min_range,
            config.max_speed,
            echoes,
            hits,
        )
        used = echoes[:, 0] < np.inf
        locked = hits >= config.minimum_hits
        tracked = locked & (config.track != "water")
        tracks: list[TrackReference] = ["bottom" if bottom else "none" for bottom in tracked.tolist()]
        if config.track != "bottom":
            for k in np.flatnonzero(valid & ~tracked).tolist():
                pose, velocity = Pose.of(motions[k, :7]), motions[k, 7:10]
                echoes[k, 1], used[k] = self._through_water(view.at(k), pose, velocity, echoes[k, 0])
                tracked[k] = np.count_nonzero(used[k]) >= config.minimum_hits
                tracks[k] = "water" if tracked[k] else "none"
        velocities, covariances, errors = np.empty((count, 3)), np.empty((count, 3, 3)), np.empty(count)
        solve_pings_batch(
            valid,
            self._beams,
            echoes,
            used,
            tracked,
            *noise.key,
            view.ticks,
            config.velocity_noise,
            config.range_noise,
            velocities,
            covariances,
            errors,
        )
        below = found.distance[:, config.beams].astype(np.float64)
        is_within = (below >= config.min_range) & (below < math.inf)
        return Readings(
            DvlReading,
            {
                "time": view.times,
                "bottom_lock": locked,
                "track": tracks,
                "velocity": velocities,
                "covariance": covariances,
                "altitude": np.where(is_within, below + errors, math.nan),
                "ranges": echoes[:, 0],
                "beam_velocities": echoes[:, 1],
                "hits": hits,
            },
            valid,
        )

    def _through_water(
        self, sample: SampleView, pose: Pose, velocity: Floats, ranges: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the beams' speeds through the water layer, and whether each beam crosses the whole layer."""
        near, far = self._config.water_layer
        directions = rotate(pose.orientation, self._beams)
        steps = np.linspace(near, far, 5)
        points = pose.position + directions[:, None] * steps[:, None]
        water = sample.sample_water(points)
        inside = (points[..., 2] < water.height) & (steps < ranges[:, None])
        flow = np.where(inside[..., None], water.velocity, 0.0).sum(axis=1)
        cells = inside.sum(axis=1)
        mean = flow / np.maximum(cells, 1)[:, None]
        return np.einsum("ij,ij->i", directions, velocity - mean), cells == len(steps)


class Dvl(RaySensorConfig):
    """Doppler velocity log that points down; its beams are inclined from the mount's −z axis."""

    display = (Scalars(vectors=("velocity",)), Rays())

    perfect = {"velocity_noise": 0.0, "range_noise": 0.0}

    kind: Literal["dvl"] = "dvl"
    beams: int = Field(4, ge=3, le=64, description="number of beams")
    minimum_hits: int = Field(
        3, ge=3, description="beams with a bottom echo that are needed for a lock; a velocity needs three"
    )
    janus_angle_deg: float = Field(22.5, gt=0, lt=90, description="angle between each beam and −z")
    rotation_offset_deg: float = Field(
        135.0, ge=-360, le=360, description="azimuth of the first beam, clockwise from forward, seen from above"
    )
    min_range: NonNegative = Field(0.05, description="minimum range, m")
    max_range: Positive = Field(50.0, description="maximum range, m")
    max_speed: Positive = Field(9.0, description="maximum speed along a beam, m/s; faster beams give no echo")
    track: Literal["bottom", "water", "auto"] = Field(
        "bottom", description="velocity over ground, through the water, or through the water only without a bottom lock"
    )
    water_layer: tuple[Positive, Positive] = Field(
        (2.0, 6.0), description="start and end of the water-track layer along the beams, m"
    )
    velocity_noise: NonNegative = Field(0.001, description="standard deviation of each beam's speed, m/s")
    range_noise: NonNegative = Field(0.001, description="standard deviation of each range, m")

    @model_validator(mode="after")
    def _fit(self) -> Dvl:
        if self.minimum_hits > self.beams:
            raise ValueError(f"`minimum_hits` ({self.minimum_hits}) must not be above `beams` ({self.beams})")
        if self.min_range >= self.max_range:
            raise ValueError(f"`min_range` ({self.min_range:g} m) must be below `max_range` ({self.max_range:g} m)")
        if self.water_layer[0] >= self.water_layer[1]:
            raise ValueError(f"`water_layer` must start before it ends, not {list(self.water_layer)}")
        return self

    def directions(self) -> Floats:
        """Return the unit vectors of the beams in the sensor's frame, (beams, 3)."""
        azimuth = np.radians(self.rotation_offset_deg + 360.0 / self.beams * np.arange(self.beams))
        janus = np.radians(self.janus_angle_deg)
        flat = np.sin(janus)
        return np.column_stack([flat * np.cos(azimuth), -flat * np.sin(azimuth), np.full(self.beams, -np.cos(janus))])

    def build(self) -> DvlSensor:
        return DvlSensor(self)
