"""Recordings: a run as an MCAP file of ROS 2 messages, with all that is needed to run it again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Literal

from pydantic import Field

from skerry.core.config import Rational
from skerry.interfaces.ros import Ros
from skerry.parts.interface import Interface, InterfaceConfig

PICTURES = ("*/image", "*/image_raw", "*/image_depth", "*compressed", "*/camera_info", "*/cam_info")


class Recorder(InterfaceConfig):
    """Records what the sensors measure as ROS 2 messages, the commands, the scenario and fingerprints of the world."""

    kind: Literal["recorder"] = "recorder"
    path: Path = Field(
        Path("recording.mcap"), description="the new file, relative to the folder in which Skerry is started"
    )
    ros: Ros | None = Field(
        None, description="topics, types and frames as an interface `ros` has them; those of the scenario's by default"
    )
    leave_out: tuple[str, ...] = Field(
        ("/clock", *PICTURES),
        description="topics that are not recorded, as patterns; /clock, as each message has its time, and pictures",
    )
    fingerprint_frequency: Rational = Field(
        Fraction(1, 60),
        gt=0,
        description="Hz of simulated time at which the world's fingerprint is taken, beside those of beginning and end",
    )
    compression: Literal["zstd", "lz4", "none"] = Field("zstd", description="of the file")

    def build(self) -> Interface:
        from skerry.interfaces.recorder.recorder import RecorderInterface

        return RecorderInterface(self)
