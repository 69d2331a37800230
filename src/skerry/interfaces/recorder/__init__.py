"""Recordings of runs as MCAP files of ROS 2 messages, with all data that a replay needs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Literal

from pydantic import Field

from skerry.core.config import Rational
from skerry.interfaces.ros import Ros
from skerry.parts.interface import Interface, InterfaceConfig

IMAGE_TOPICS = ("*/image", "*/image_raw", "*/image_depth", "*compressed", "*/camera_info", "*/cam_info")
"""Patterns of the topics of cameras, which are not recorded by default."""


class Recorder(InterfaceConfig):
    """Settings of a recorder of ROS 2 messages, commands, scenario and fingerprints of the world."""

    kind: Literal["recorder"] = "recorder"
    path: Path = Field(Path("recording.mcap"), description="new file, relative to the working directory")
    ros: Ros | None = Field(
        None, description="settings of topics, types and frames; default: those of the scenario's interface `ros`"
    )
    leave_out: tuple[str, ...] = Field(
        ("/clock", *IMAGE_TOPICS),
        description="patterns of topics that are not recorded; default: images, and /clock, as messages have times",
    )
    fingerprint_frequency: Rational = Field(
        Fraction(1, 60),
        gt=0,
        description="rate of fingerprints of the world in simulated time, Hz, in addition to those at start and end",
    )
    compression: Literal["zstd", "lz4", "none"] = Field("zstd", description="compression of the file")

    def build(self) -> Interface:
        from skerry.interfaces.recorder.recorder import RecorderInterface

        return RecorderInterface(self)
