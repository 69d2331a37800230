"""Beam patterns and range limits of known lidars, from their data sheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RangeLimits:
    """Range limits and range noise of a device, m."""

    min_range: float
    max_range: float
    dark_range: float  # greatest range of a surface of 10 % reflectance at normal incidence
    noise: float  # standard deviation of a range


@dataclass(frozen=True)
class LidarPattern:
    """Properties that all devices have."""

    source: str  # data sheet or manual
    limits: RangeLimits


@dataclass(frozen=True)
class Spinning(LidarPattern):
    """Channels at fixed elevations that rotate about z.

    A turn has either a fixed number of columns, or lasers that fire at a fixed period, so that slow turns have more
    columns.
    """

    elevations_deg: tuple[float, ...]  # one per channel, positive upwards
    offsets_deg: tuple[float, ...] = ()  # azimuth offset of each channel, counter-clockwise; all 0 by default
    columns: int = 0  # columns per turn; 0 if `firing_period` is given
    firing_period: float = 0.0  # time between columns, s, if `columns` is 0
    turns: tuple[float, float] = (5.0, 20.0)  # minimum and maximum turns per second
    fov_deg: float = 360.0

    def rotation_rate(self, frequency: float) -> float:
        """Return the turns per second at a scan frequency, Hz, within the limits of the device."""
        low, high = self.turns
        return min(max(frequency, low), high)

    def columns_at(self, frequency: float) -> int:
        """Return the columns per turn at a scan frequency, Hz."""
        return self.columns or round(1.0 / (self.rotation_rate(frequency) * self.firing_period))


@dataclass(frozen=True)
class Planar(Spinning):
    """Single channel in the x-y plane."""


@dataclass(frozen=True)
class Rosette(LidarPattern):
    """Non-repetitive scan lines, produced by two rotating prisms or mirrors.

    An `ellipse` is the pattern of two prisms of equal power: the sum of two rotating vectors. In a `rectangle` both
    angles oscillate. In a `ring` one angle rotates and the other oscillates. The lines are offset from each other by
    equal parts of a turn.
    """

    shape: Literal["ellipse", "rectangle", "ring"]
    view_deg: tuple[float, float, float]  # breadth, lowest and highest elevation
    points_per_second: int
    lines: int
    rates: tuple[float, float]  # turns per second of the two prisms; negative for the opposite sense

    def points_of_line(self, frequency: float) -> int:
        """Return the number of points of one line in a scan at this frequency, Hz."""
        return max(1, round(self.points_per_second / (self.lines * frequency)))

    def directions(self, time: float, frequency: float) -> Floats:
        """Return the unit vectors (lines, points, 3) of the scan that starts at a time, s.

        The next scan continues where this one ends.
        """
        rate = self.points_per_second / self.lines
        elapsed = (round(time * rate) + np.arange(self.points_of_line(frequency))) / rate
        lag = np.arange(self.lines)[:, None] / self.lines
        first, second = (elapsed * self.rates[0]) % 1.0, (elapsed * self.rates[1] + lag) % 1.0
        breadth, lowest, highest = self.view_deg
        middle, half = 0.5 * (highest + lowest), 0.5 * (highest - lowest)
        if self.shape == "ellipse":
            a, b = 2 * np.pi * first, 2 * np.pi * second
            across = np.radians(0.5 * breadth) * 0.5 * (np.cos(a) + np.cos(b))
            up = np.radians(half) * 0.5 * (np.sin(a) + np.sin(b))
            away = np.hypot(across, up)  # angle from the x axis
            scale = np.sinc(away / np.pi)
            return np.stack(np.broadcast_arrays(np.cos(away), across * scale, up * scale), axis=-1)
        if self.shape == "rectangle":
            azimuth = np.radians(0.5 * breadth * triangle_wave(first))
        else:
            azimuth = 2 * np.pi * first
        elevation = np.radians(middle + half * triangle_wave(second))
        return unit_vectors(*np.broadcast_arrays(azimuth, elevation))


def triangle_wave(turn: Floats) -> Floats:
    """Return a triangle wave between −1 and 1, of period 1."""
    return 4.0 * np.abs((turn - 0.25) % 1.0 - 0.5) - 1.0


def unit_vectors(azimuth: Floats, elevation: Floats) -> Floats:
    """Return unit vectors (…, 3): x forward, azimuth counter-clockwise from x, elevation upwards; rad."""
    flat = np.cos(elevation)
    return np.stack((flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)), axis=-1)


def azimuths(fov_deg: float, columns: int) -> Floats:
    """Return the azimuths of the columns, rad, counter-clockwise; a full turn is [−π, π) without its end."""
    half = np.radians(fov_deg) / 2
    return np.linspace(-half, half, columns, endpoint=fov_deg < 360.0) if columns > 1 else np.zeros(1)


def spinning_directions(elevations_deg: Floats, offsets_deg: Floats, azimuth: Floats) -> Floats:
    """Return the unit vectors (channels, columns, 3) of a spinning lidar."""
    turned = azimuth[None, :] + np.radians(offsets_deg)[:, None]
    return unit_vectors(turned, np.broadcast_to(np.radians(elevations_deg)[:, None], turned.shape))


def _even(lowest: float, highest: float, channels: int) -> tuple[float, ...]:
    return tuple(float(angle) for angle in np.linspace(lowest, highest, channels))


# ------------------------------------------------------------------------------------------------ uneven angles

# VLP-32C: user manual 63-9325 Rev. B, table of lasers, in the form of the driver's calibration: elevation and azimuth
# offset in degrees, by increasing elevation; offsets counter-clockwise.
_VLP_32C: Final = (
    *((-25.0, -1.4), (-15.639, 1.4), (-11.31, -1.4), (-8.843, 1.4), (-7.254, -1.4), (-6.148, 1.4), (-5.333, -4.2)),
    *((-4.667, -1.4), (-4.0, 1.4), (-3.667, 4.2), (-3.333, -4.2), (-3.0, -1.4), (-2.667, 1.4), (-2.333, 4.2)),
    *((-2.0, -4.2), (-1.667, -1.4), (-1.333, 1.4), (-1.0, 4.2), (-0.667, -4.2), (-0.333, -1.4), (0.0, 1.4)),
    *((0.333, 4.2), (0.667, -4.2), (1.0, -1.4), (1.333, 1.4), (1.667, 4.2), (2.333, -1.4), (3.333, 1.4)),
    *((4.667, -1.4), (7.0, 1.4), (10.333, -1.4), (15.0, 1.4)),
)

# VLS-128 (Alpha Prime): elevations in the order of the lasers, from a published calibration file, second-hand; lasers
# fire in groups of eight (user manual, ch. 8), and each position in the group has its azimuth offset.
_VLS_128: Final = (
    *(-11.742, -1.99, 3.4, -5.29, -0.78, 4.61, -4.08, 1.31, -6.5, -1.11, 4.28, -4.41, 0.1, 6.48, -3.2, 2.19),
    *(-3.86, 1.53, -9.244, -1.77, 2.74, -5.95, -0.56, 4.83, -2.98, 2.41, -6.28, -0.89, 3.62, -5.07, 0.32, 7.58),
    *(-0.34, 5.18, -3.64, 1.75, -25.0, -2.43, 2.96, -5.73, 0.54, 9.7, -2.76, 2.63, -7.65, -1.55, 3.84, -4.85),
    *(3.18, -5.51, -0.12, 5.73, -4.3, 1.09, -16.042, -2.21, 4.06, -4.63, 0.76, 15.0, -3.42, 1.97, -6.85, -1.33),
    *(-5.62, -0.23, 5.43, -3.53, 0.98, -19.582, -2.32, 3.07, -4.74, 0.65, 11.75, -2.65, 1.86, -7.15, -1.44, 3.95),
    *(-2.1, 3.29, -5.4, -0.01, 4.5, -4.19, 1.2, -13.565, -1.22, 4.17, -4.52, 0.87, 6.08, -3.31, 2.08, -6.65),
    *(1.42, -10.346, -1.88, 3.51, -6.06, -0.67, 4.72, -3.97, 2.3, -6.39, -1.0, 4.39, -5.18, 0.21, 6.98, -3.09),
    *(4.98, -3.75, 1.64, -8.352, -2.54, 2.85, -5.84, -0.45, 8.43, -2.87, 2.52, -6.17, -1.66, 3.73, -4.96, 0.43),
)
_VLS_128_OFFSETS: Final = (-6.354, -4.548, -2.732, -0.911, 0.911, 2.732, 4.548, 6.354)
_VLS_128_ORDER: Final = sorted(range(128), key=_VLS_128.__getitem__)

# ------------------------------------------------------------------------------------------------ devices

_DARK_SHARE: Final = 8.0**-0.5
"""A data sheet with one range is assumed to refer to a reflectance of 80 %; then 10 % is detected up to 1/√8 of it."""

# The speeds of the Mid-40's prisms, 7294 and −4664 rpm, are from Brazeal, Wilkinson and Hochmair (Sensors 21, 4722,
# 2021), second-hand. No speeds are published for the other Livox devices; they are estimates that fill the field of
# view within a second. Fields of view, points per second and ranges are the manufacturer's, second-hand except for the
# HAP. The minimum ranges of the Mid-40, Horizon and Tele-15 are estimates.
_PRISMS: Final = (7294 / 60, -4664 / 60)
_SWEEPS: Final = (6.18, 7294 / 60)

PATTERNS: Final[dict[str, LidarPattern]] = {
    # The manuals of the VLP-16 and VLP-32C give no minimum range; 0.5 m is an estimate.
    "vlp_16": Spinning(
        "Velodyne VLP-16 user manual 63-9243 Rev. D and data sheet: ±15° by 2°, 100 m, ±3 cm, 55.296 µs per firing",
        RangeLimits(0.5, 100.0, 100.0 * _DARK_SHARE, 0.03),
        _even(-15, 15, 16),
        firing_period=55.296e-6,
    ),
    "vlp_16_hires": Spinning(
        "Velodyne Puck Hi-Res data sheet: ±10° by 1.33°, 100 m, ±3 cm, 55.296 µs per firing",
        RangeLimits(0.5, 100.0, 100.0 * _DARK_SHARE, 0.03),
        _even(-10, 10, 16),
        firing_period=55.296e-6,
    ),
    "vlp_32c": Spinning(
        "Velodyne VLP-32C user manual 63-9325 Rev. B and data sheet: −25° to 15°, 200 m, ±3 cm, 55.296 µs per firing",
        RangeLimits(0.5, 200.0, 200.0 * _DARK_SHARE, 0.03),
        tuple(elevation for elevation, _ in _VLP_32C),
        tuple(offset for _, offset in _VLP_32C),
        firing_period=55.296e-6,
    ),
    "hdl_32e": Spinning(
        "Velodyne HDL-32E user manual: −30.67° to 10.67° by 1.33°, 5 cm to 100 m, ±2 cm, 46.08 µs per firing",
        RangeLimits(0.05, 100.0, 100.0 * _DARK_SHARE, 0.02),
        _even(-92 / 3, 32 / 3, 32),
        firing_period=46.08e-6,
    ),
    # The ranges of the Alpha Prime are second-hand; the minimum range is an estimate.
    "vls_128": Spinning(
        "Velodyne VLS-128 user manual, Alpha Prime data sheet: −25° to 15°, 245 m, 220 m at 10 %, 53.3 µs",
        RangeLimits(0.5, 245.0, 220.0, 0.03),
        tuple(_VLS_128[laser] for laser in _VLS_128_ORDER),
        tuple(_VLS_128_OFFSETS[laser % 8] for laser in _VLS_128_ORDER),
        firing_period=53.3e-6,
    ),
    # The azimuth stagger of the beams is omitted, because Ouster's software removes it.
    **{
        f"os1_128_{columns}": Spinning(
            "Ouster OS1 data sheet: ±22.5°, 0.8 m to 120 m at 80 % and 40 m at 10 %, ±1.5 cm at a strong signal",
            RangeLimits(0.8, 120.0, 40.0, 0.015),
            _even(-22.5, 22.5, 128),
            columns=columns,
        )
        for columns in (1024, 2048)
    },
    # Channels, azimuths, ranges and noise are from the SMaRC simulator's prefabs. Elevations are not published, and are
    # from the VLP-16, the HDL-32E and, for the device on the vessel, the OS1-128. That simulator does not model dark
    # targets, so the full range applies to 10 %.
    "evolo_16": Spinning(
        "SMaRC Evolo, low resolution", RangeLimits(0.5, 130.0, 130.0, 0.5), _even(-15, 15, 16), columns=3600
    ),
    "evolo_32": Spinning(
        "SMaRC Evolo, medium resolution", RangeLimits(0.5, 130.0, 130.0, 0.0), _even(-92 / 3, 32 / 3, 32), columns=3600
    ),
    "evolo_128": Spinning(
        "SMaRC Evolo, high resolution", RangeLimits(0.5, 130.0, 130.0, 0.0), _even(-22.5, 22.5, 128), columns=3600
    ),
    "mid_40": Rosette(
        "Livox Mid series user manual v1.0: 38.4° circle, 90 m at 10 %, 260 m at 80 %, 2 cm, 100 000 points/s",
        RangeLimits(1.0, 260.0, 90.0, 0.02),
        "ellipse",
        (38.4, -19.2, 19.2),
        points_per_second=100_000,
        lines=1,
        rates=_PRISMS,
    ),
    "mid_70": Rosette(
        "Livox Mid-70 user manual v1.2: 70.4° circle, 90 m at 10 %, 260 m at 80 %, from 0.05 m, 2 cm, 100 000 points/s",
        RangeLimits(0.05, 260.0, 90.0, 0.02),
        "ellipse",
        (70.4, -35.2, 35.2),
        points_per_second=100_000,
        lines=1,
        rates=_PRISMS,
    ),
    "avia": Rosette(
        "Livox Avia user manual: 70.4° × 77.2°, 190 m at 10 %, 320 m at 80 %, from 1 m, 2 cm, 240 000 points/s",
        RangeLimits(1.0, 320.0, 190.0, 0.02),
        "ellipse",
        (70.4, -38.6, 38.6),
        points_per_second=240_000,
        lines=6,
        rates=_PRISMS,
    ),
    "horizon": Rosette(
        "Livox Horizon user manual v1.0: 81.7° × 25.1°, 90 m at 10 %, 260 m at 80 %, 2 cm, 240 000 points/s",
        RangeLimits(0.5, 260.0, 90.0, 0.02),
        "rectangle",
        (81.7, -12.55, 12.55),
        points_per_second=240_000,
        lines=6,
        rates=_SWEEPS,
    ),
    "tele_15": Rosette(
        "Livox Tele-15 user manual v1.0: 14.5° × 16.2°, 320 m at 10 %, 500 m at 50 %, 2 cm, 240 000 points/s",
        RangeLimits(3.0, 500.0, 320.0, 0.02),
        "ellipse",
        (14.5, -8.1, 8.1),
        points_per_second=240_000,
        lines=6,
        rates=_PRISMS,
    ),
    # The data sheet gives only 150 m at 10 %; this implies 424 m at 80 %.
    "hap": Rosette(
        "Livox HAP (TX) user manual, table 1.2.1: 120° × 25°, 150 m at 10 %, from 0.5 m, 2 cm, 452 000 points/s",
        RangeLimits(0.5, 150.0 / _DARK_SHARE, 150.0, 0.02),
        "rectangle",
        (120.0, -12.5, 12.5),
        points_per_second=452_000,
        lines=6,
        rates=_SWEEPS,
    ),
    "mid_360": Rosette(
        "Livox Mid-360 user manual v1.0: 360° × 59° (−7° to 52°), 40 m at 10 %, 70 m at 80 %, 2 cm, 200 000 points/s",
        RangeLimits(0.1, 70.0, 40.0, 0.02),
        "ring",
        (360.0, -7.0, 52.0),
        points_per_second=200_000,
        lines=4,
        rates=(12.36, 7294 / 60),
    ),
    # White paper (90 %) is detected up to 30 m; the range at 10 % follows from it.
    "planar": Planar(
        "Hokuyo UTM-30LX data sheet: 270° by 0.25°, 0.1 m to 30 m, 1 cm",
        RangeLimits(0.1, 30.0, 10.0, 0.01),
        (0.0,),
        columns=1081,
        turns=(40.0, 40.0),
        fov_deg=270.0,
    ),
}
