"""Server with the protocol of Okoń's own simulator: control and video over TCP."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, field_validator

from skerry.core.config import NonNegative, Positive, Rational
from skerry.interfaces.okon.course import CourseConfig
from skerry.parts.interface import Interface, InterfaceConfig


class Okon(InterfaceConfig):
    """Settings of the server for programs that were written for Okoń's own simulator."""

    kind: Literal["okon"] = "okon"
    dialect: Literal["1", "2.0", "2"] = Field(
        "1", description="version of the protocol: `1` documented, `2.0` of versions 2.0 and 2.1, `2` of 2.2 and 2.3"
    )
    robot: str | None = Field(None, description="robot that clients drive; default: the scenario's first robot")
    camera: str = Field("camera", description="camera of the robot that provides the images")
    host: str = Field("127.0.0.1", min_length=1, description="address to listen at; 0.0.0.0 listens on every network")
    control_port: int = Field(44210, ge=0, le=65535, description="port of the control channel; 0 is any free port")
    video_port: int = Field(44209, ge=0, le=65535, description="port of the video channel; 0 is any free port")
    video_frequency: Rational = Field(
        Fraction(12), gt=0, description="highest rate of images, Hz; the camera works only while a client requests them"
    )
    quality: int = Field(85, ge=0, le=100, description="JPEG quality of images, 0 to 100")
    settings_file: str | None = Field(
        "settings.json",
        description="file in the working folder that overrides ports and quality if it exists; null reads none",
    )
    ack_every_request: bool = Field(False, description="send an ACK after each request, as the oldest clients expect")
    depth_range: Positive | None = Field(
        None, description="distance that is black in GET_DEPTH, m; 0 m is white; default: 40, in dialect 2 20"
    )
    heartbeat: NonNegative = Field(
        0.5, description="idle time after which a client of dialect 2, not 2.0, gets an empty ACK, s; 0 sends none"
    )
    armed: bool | None = Field(
        None, description="whether the motors of dialects 2.0 and 2 are armed at the start; default: only those of 2.0"
    )
    course: CourseConfig = Field(CourseConfig(), description="zones of dialect 2")
    torpedo: str | None = Field(None, description="dynamic object of the scenario that TORPEDO launches, in dialect 2")

    @field_validator("dialect", mode="before")
    @classmethod
    def _number_to_text(cls, value: Any) -> Any:
        """Convert a number to text, because YAML reads 2.0 without quotes as a number."""
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    def build(self) -> Interface:
        from skerry.interfaces.okon.interface import OkonInterface

        return OkonInterface(self)
