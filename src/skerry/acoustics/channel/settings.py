"""Settings of transmitters and receivers that several kinds of acoustic parts share."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.acoustics.channel.directions import cap, directions_of
from skerry.acoustics.channel.paths import PATHS
from skerry.core.config import Config, ExistingFile, NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.formats.mesh_files import read_mesh
from skerry.parts.acoustics import Arrival

NOMINAL_SOUND_SPEED = 1500.0  # default speed of sound, m/s


PERFECT_RECEIVER: Final = {"noise_db": 0.0, "timing_noise": 0.0, "clock_offset": 0.0, "clock_drift_ppm": 0.0}
"""Settings of a receiver without noise and with an exact clock."""


class AirSettings(Config):
    """Behaviour of a part above the water."""

    work_in_air: bool = Field(False, description="whether it also transmits and receives above the water")


class TransmitterSettings(AirSettings):
    """Settings of a part that transmits: range, echoes and level of its sound."""

    sound_speed: Positive | Literal["water"] = Field(
        NOMINAL_SOUND_SPEED,
        description="m/s, the same everywhere; or `water`: the speed in the scenario's water, by depth",
    )
    max_range: Positive = Field(100.0, description="largest length of a direct path, m")
    min_channel_radius: Positive = Field(0.2, description="radius of the sphere that must fit along a path, m")
    ignore_occlusions: bool = Field(False, description="whether obstacles do not block sound")
    echoing: bool = Field(True, description="whether sound also travels by the surface and by the bottom")
    bottom_echoes: bool = Field(True, description="whether there are bottom echoes; needs `echoing`")
    remaining_range_ratio_after_echo: float = Field(
        0.5, ge=0, le=1, description="largest length of an echo path, divided by `max_range`"
    )
    bottom_opening_angle_deg: float = Field(
        120.0, gt=0, le=180, description="full angle of the cone of bottom echo rays, around straight down"
    )
    bottom_resolution: int = Field(
        2, ge=0, le=5, description="number of subdivisions of the icosphere whose corners are the bottom echo rays"
    )
    bottom_directions: ExistingFile | None = Field(
        None, description="mesh file; its corners, seen from its origin, are the bottom echo rays instead; z up"
    )
    bottom_echo_tolerance: Positive = Field(
        1.0,
        description="largest distance at which a bottom echo that does not close may pass the receiver, m",
    )
    single_bottom_echo: bool = Field(
        True, description="whether there is one bottom echo per receiver; otherwise all that the rays find"
    )
    surface_roughening: bool = Field(False, description="whether waves weaken the surface echo")
    draw_signal_lines: bool = Field(True, description="whether the page draws its rays and paths")
    frequency_khz: Positive = Field(25.0, description="carrier frequency, kHz")
    source_level_db: float | None = Field(
        None,
        ge=0,
        le=300,
        description="dB re 1 µPa at 1 m; if given, the signal-to-noise ratio decides what is received",
    )
    spreading_db: NonNegative = Field(
        20.0, le=40, description="spreading loss per factor 10 of distance, dB; 20 in open water"
    )

    @model_validator(mode="after")
    def _check_directions(self) -> TransmitterSettings:
        try:
            self.echo_rays()
        except SkerryError as error:
            raise ValueError(f"bottom_directions: {error}") from None
        return self

    def echo_rays(self) -> NDArray[np.float64]:
        """Return the directions of the rays that search for bottom echoes, in the world's axes, (n, 3)."""
        if not (self.echoing and self.bottom_echoes):
            return np.zeros((0, 3))
        if self.bottom_directions is not None:
            return directions_of(read_mesh(self.bottom_directions))
        return cap(self.bottom_resolution, self.bottom_opening_angle_deg)

    def echo_cone(self) -> float:
        """Return the cosine of the largest angle between straight down and the first leg of a bottom echo.

        The rays of a mesh reach as far as the outermost of them.
        """
        if self.bottom_directions is None:
            return float(np.cos(np.radians(self.bottom_opening_angle_deg / 2))) - 1e-9
        return float(-self.echo_rays()[:, 2].max(initial=-1.0)) - 1e-9


class ReceiverSettings(AirSettings):
    """Settings of a part that receives: noise, clock and inbox."""

    noise_db: float = Field(50.0, ge=0, le=200, description="spectral level of the noise, dB re 1 µPa²/Hz")
    bandwidth_khz: Positive = Field(5.0, description="bandwidth of the receiver, over which noise is collected, kHz")
    detection_threshold_db: float = Field(
        10.0, description="smallest signal-to-noise ratio at which a ping is received, dB"
    )
    timing_noise: NonNegative = Field(0.0, description="standard deviation of measured times, s")
    clock_offset: float = Field(0.0, description="s by which its clock is ahead at the start")
    clock_drift_ppm: float = Field(0.0, ge=-1000, le=1000, description="parts per million by which its clock runs fast")
    inbox_size: int = Field(
        10_000, ge=1, le=1_000_000, description="largest number of unread arrivals; the oldest is dropped first"
    )

    def local_time(self, time: float) -> float:
        """Return the time that its clock shows at a simulation time, s."""
        return time + self.clock_offset + 1e-6 * self.clock_drift_ppm * time

    def measured_time(self, noise: Noise, arrival: Arrival, time: float, hydrophone: int = 0) -> float:
        """Return the measured arrival time by its clock, s; the noise depends on signal, path and hydrophone."""
        if self.timing_noise > 0.0:
            channel = len(PATHS) * hydrophone + PATHS.index(arrival.path)
            time += self.timing_noise * noise.normal(arrival.signal.number, channel=channel)
        return self.local_time(time)
