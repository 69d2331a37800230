"""Acoustic part as the channel sees it: its data for native code, and collisions of sounds that arrive together."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel import paths
from skerry.acoustics.channel.bottom_echoes import REFLECTION_COLUMNS
from skerry.acoustics.channel.link_budget import add_db
from skerry.acoustics.channel.settings import NOMINAL_SOUND_SPEED, ReceiverSettings, TransmitterSettings
from skerry.core.frames import Pose
from skerry.parts.acoustics import AcousticPart, Arrival
from skerry.water import Water

HISTORY_SIZE: Final = 64  # number of past transmissions and receptions that are kept per part to find collisions


class ReceptionInterval(NamedTuple):
    """Time interval in which a part receives, or has lately received, one signal; used to find collisions."""

    start: float
    end: float
    number: int
    level_db: float | None


class Transducer:
    """Acoustic part in the channel, with its settings as arrays for native code."""

    def __init__(self, part: AcousticPart, robot: int, pose: Pose, water: Water) -> None:
        self.part = part
        self.robot = robot
        self.turn = pose.orientation  # orientation of the part on its body
        self.recent: deque[ReceptionInterval] = deque(maxlen=HISTORY_SIZE)
        self.sent: deque[tuple[float, float]] = deque(maxlen=HISTORY_SIZE)
        self.found: NDArray[np.float64] = np.zeros((0, paths.PATH_COLUMNS))  # paths of its last transmission
        self.receiver: ReceiverSettings | None = part.receiver
        self.in_air: bool = (part.receiver or part.transmitter).work_in_air
        transmitter: TransmitterSettings | None = part.transmitter
        if transmitter is not None:
            self.transmitter = transmitter
            self.rays = transmitter.echo_rays()
            self.reflections = np.zeros((len(self.rays), REFLECTION_COLUMNS))
            self.layered = transmitter.sound_speed == "water"
            self.settings = np.zeros(paths.SETTINGS)
            self.settings[paths.S_RANGE] = transmitter.max_range
            self.settings[paths.S_RADIUS] = transmitter.min_channel_radius
            if transmitter.echoing:
                self.settings[paths.S_ECHO_RANGE] = transmitter.max_range * transmitter.remaining_range_ratio_after_echo
            self.settings[paths.S_TOLERANCE] = transmitter.bottom_echo_tolerance
            self.settings[paths.S_SINGLE] = transmitter.single_bottom_echo
            self.settings[paths.S_OCCLUSIONS] = not transmitter.ignore_occlusions
            self.settings[paths.S_IN_AIR] = transmitter.work_in_air
            self.settings[paths.S_CONE] = transmitter.echo_cone()
            speed = NOMINAL_SOUND_SPEED if isinstance(transmitter.sound_speed, str) else transmitter.sound_speed
            self.settings[paths.S_SPEED] = speed
            if transmitter.surface_roughening and water.waves is not None:
                rms = float(np.sqrt(0.5 * np.sum(water.waves.amplitude**2)))
                self.settings[paths.S_ROUGHNESS] = 2e3 * np.pi * transmitter.frequency_khz / speed * rms
                self.height_rms = rms

    def forget_rays(self) -> None:
        """Forget the rays of the last transmission, which are not part of the state; they are only drawn."""
        if self.part.transmitter is not None:
            self.reflections[:] = 0.0

    @property
    def is_simple(self) -> bool:
        """Whether it only stores what it receives, and nothing can collide."""
        return self.part.accepts_batches and not self.recent and not self.sent

    def deliver(self, arrival: Arrival) -> None:
        """Deliver an arrival to the part, unless the part was transmitting or another sound collided with it."""
        signal, start = arrival.signal, arrival.time
        if self.sent or self.recent or arrival.level_db is not None:
            end = start + signal.duration / (1.0 + arrival.doppler)
            if self.part.half_duplex and any(a <= end and b >= start for a, b in self.sent):
                return
            both = [other for other in self.recent if other.start < end and other.end > start]
            if any(other.number == signal.number and other.start < start for other in both):
                return  # an echo that overlaps an earlier copy of the same signal
            others = [other.level_db for other in both if other.number != signal.number]
            known = [level for level in others if level is not None]
            if len(known) < len(others) or (others and arrival.level_db is None):
                return
            if arrival.level_db is not None and self.receiver is not None:
                noise = self.receiver.noise_db + 10.0 * np.log10(1e3 * self.receiver.bandwidth_khz)
                arrival = arrival._replace(snr_db=float(arrival.level_db - add_db(noise, *known)))
        self.part.receive(arrival)
