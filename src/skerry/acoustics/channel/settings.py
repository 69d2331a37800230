"""How a part sends and hears: settings that several kinds share."""

from __future__ import annotations

from typing import Literal

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

NOMINAL_SOUND_SPEED = 1500.0  # m/s


class AirSettings(Config):
    """What a part does out of the water."""

    work_in_air: bool = Field(False, description="send and hear above the water too")


class TransmitterSettings(AirSettings):
    """Where the sound of a part goes."""

    sound_speed: Positive | Literal["water"] = Field(
        NOMINAL_SOUND_SPEED, description="m/s everywhere; `water` for that of the scenario's water, by depth"
    )
    max_range: Positive = Field(100.0, description="m that its sound goes")
    min_channel_radius: Positive = Field(0.2, description="m, of the sphere that must find room along a path")
    ignore_occlusions: bool = Field(False, description="sound goes through everything")
    echoing: bool = Field(True, description="sound also comes by the surface and by the bottom")
    bottom_echoes: bool = Field(True, description="by the bottom too")
    remaining_range_ratio_after_echo: float = Field(0.5, ge=0, le=1, description="of `max_range`, for a whole echo")
    bottom_opening_angle_deg: float = Field(120.0, gt=0, le=180, description="of the cone straight down, of echo rays")
    bottom_resolution: int = Field(2, ge=0, le=5, description="how often the icosphere of echo rays is divided")
    bottom_directions: ExistingFile | None = Field(
        None, description="mesh whose corners, seen from its origin, are the echo rays instead; z up"
    )
    bottom_echo_tolerance: Positive = Field(1.0, description="m by which an echo ray may miss at the hearer's depth")
    single_bottom_echo: bool = Field(True, description="only the closest echo ray counts; else all do")
    surface_roughening: bool = Field(False, description="waves weaken the echo of the surface")
    draw_signal_lines: bool = Field(True, description="its paths are shown")
    frequency_khz: Positive = Field(25.0, description="of the carrier")
    source_level_db: float | None = Field(
        None, ge=0, le=300, description="dB re 1 µPa at 1 m; then noise and distance decide what is heard"
    )
    spreading_db: NonNegative = Field(20.0, le=40, description="loss for ten times the distance: 20 in the open, dB")

    @model_validator(mode="after")
    def _can_be_read(self) -> TransmitterSettings:
        try:
            self.echo_rays()
        except SkerryError as error:
            raise ValueError(f"bottom_directions: {error}") from None
        return self

    def echo_rays(self) -> NDArray[np.float64]:
        """The directions (n, 3) in the world in which it looks for echoes of the bottom."""
        if not (self.echoing and self.bottom_echoes):
            return np.zeros((0, 3))
        if self.bottom_directions is not None:
            return directions_of(read_mesh(self.bottom_directions))
        return cap(self.bottom_resolution, self.bottom_opening_angle_deg)


class ReceiverSettings(AirSettings):
    """How a part hears."""

    noise_db: float = Field(50.0, ge=0, le=200, description="spectral level of the noise, dB re 1 µPa²/Hz")
    bandwidth_khz: Positive = Field(5.0, description="in which noise comes in")
    detection_threshold_db: float = Field(10.0, description="signal to noise that a ping needs to be heard, dB")
    timing_noise: NonNegative = Field(0.0, description="standard deviation of measured times, s")
    clock_offset: float = Field(0.0, description="s by which its clock is fast at the start")
    clock_drift_ppm: float = Field(0.0, ge=-1000, le=1000, description="millionths by which its clock runs fast")
    inbox_size: int = Field(10_000, ge=1, le=1_000_000, description="of what is not read, the oldest goes first")

    def local_time(self, time: float) -> float:
        """What its clock shows."""
        return time + self.clock_offset + 1e-6 * self.clock_drift_ppm * time

    def measured_time(self, noise: Noise, arrival: Arrival, time: float, hydrophone: int = 0) -> float:
        """What its clock shows for when something came, with noise that depends on the signal, path and hydrophone."""
        if self.timing_noise > 0.0:
            channel = len(PATHS) * hydrophone + PATHS.index(arrival.path)
            time += self.timing_noise * noise.normal(arrival.signal.number, channel=channel)
        return self.local_time(time)
