"""A part in the channel: what native code needs of it, and what it makes of sounds that come at the same time."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel import paths as way
from skerry.acoustics.channel.link_budget import add_db
from skerry.acoustics.channel.settings import USUAL_SOUND_SPEED, HearingSettings, SendingSettings
from skerry.core.frames import Pose
from skerry.parts.acoustics import AcousticPart, Arrival
from skerry.water import Water

REMEMBERED: Final = 64  # of what a part has sent, and of what has lately come to it, for what comes at the same time


class Coming(NamedTuple):
    """What comes, or has lately come, to a part; for what comes at the same time."""

    start: float
    end: float
    number: int
    level_db: float | None


class Member:
    """A part in the channel, with what native code needs of it."""

    def __init__(self, part: AcousticPart, robot: int, place: Pose, water: Water) -> None:
        self.part = part
        self.robot = robot
        self.turn = place.orientation  # of its axes, on its body
        self.coming: deque[Coming] = deque(maxlen=REMEMBERED)
        self.sent: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)
        self.found: NDArray[np.float64] = np.zeros((0, way.PATH_COLUMNS))  # the paths of what it sent last
        self.hearing: HearingSettings | None = part.hearing
        self.in_air: bool = (part.hearing or part.sending).work_in_air
        sending: SendingSettings | None = part.sending
        if sending is not None:
            self.sending = sending
            self.rays = sending.echo_rays()
            self.shots = np.zeros((len(self.rays), way.SHOT_COLUMNS))
            self.layered = sending.sound_speed == "water"
            self.settings = np.zeros(way.SETTINGS)
            self.settings[way.S_RANGE] = sending.max_range
            self.settings[way.S_RADIUS] = sending.min_channel_radius
            if sending.echoing:
                self.settings[way.S_ECHO_RANGE] = sending.max_range * sending.remaining_range_ratio_after_echo
            self.settings[way.S_TOLERANCE] = sending.bottom_echo_tolerance
            self.settings[way.S_SINGLE] = sending.single_bottom_echo
            self.settings[way.S_OCCLUSIONS] = not sending.ignore_occlusions
            self.settings[way.S_IN_AIR] = sending.work_in_air
            speed = USUAL_SOUND_SPEED if isinstance(sending.sound_speed, str) else sending.sound_speed
            self.settings[way.S_SPEED] = speed
            if sending.surface_roughening and water.waves is not None:
                rms = float(np.sqrt(0.5 * np.sum(water.waves.amplitude**2)))
                self.settings[way.S_ROUGHNESS] = 2e3 * np.pi * sending.frequency_khz / speed * rms
                self.height_rms = rms

    @property
    def is_simple(self) -> bool:
        """Whether it only keeps what comes, and nothing can come at the same time."""
        return self.part.takes_batches and not self.coming and not self.sent

    def decide(self, arrival: Arrival) -> None:
        """Let the part hear what has come, unless it was sending, or something else came at the same time."""
        signal, start = arrival.signal, arrival.time
        if self.sent or self.coming or arrival.level_db is not None:
            end = start + signal.duration / (1.0 + arrival.doppler)
            if self.part.half_duplex and any(a <= end and b >= start for a, b in self.sent):
                return
            both = [other for other in self.coming if other.start < end and other.end > start]
            if any(other.number == signal.number and other.start < start for other in both):
                return  # an echo that cannot be told from what it is an echo of
            others = [other.level_db for other in both if other.number != signal.number]
            known = [level for level in others if level is not None]
            if len(known) < len(others) or (others and arrival.level_db is None):
                return
            if arrival.level_db is not None and self.hearing is not None:
                noise = self.hearing.noise_db + 10.0 * np.log10(1e3 * self.hearing.bandwidth_khz)
                arrival = arrival._replace(snr_db=float(arrival.level_db - add_db(noise, *known)))
        self.part.hear(arrival)
