"""Okoń's own simulator, as far as its clients can tell: control and video over TCP."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, field_validator

from skerry.core.config import NonNegative, Positive, Rational
from skerry.interfaces.okon.course import CourseConfig
from skerry.parts.interface import Interface, InterfaceConfig


class Okon(InterfaceConfig):
    """A server for programs that were written for Okoń's own simulator."""

    kind: Literal["okon"] = "okon"
    dialect: Literal["1", "2.0", "2"] = Field(
        "1", description="the documented one, that of the versions 2.0 and 2.1, or that of 2.2 and 2.3"
    )
    robot: str | None = Field(None, description="whom clients drive; the scenario's first by default")
    camera: str = Field("camera", description="the robot's camera that gives the pictures")
    host: str = Field("127.0.0.1", min_length=1, description="where it listens; 0.0.0.0 is every network")
    control_port: int = Field(44210, ge=0, le=65535, description="0 takes any that is free")
    video_port: int = Field(44209, ge=0, le=65535, description="0 takes any that is free")
    video_frequency: Rational = Field(
        Fraction(12), gt=0, description="Hz at most at which pictures are taken, while somebody asks for them"
    )
    quality: int = Field(85, ge=0, le=100, description="of pictures as JPEG, 0 to 100")
    settings_file: str | None = Field(
        "settings.json",
        description="a file in the working folder that, if it is there, says ports and quality; null for none",
    )
    ack_every_request: bool = Field(False, description="send an ACK after each request, as the first clients expect")
    depth_range: Positive | None = Field(
        None, description="m at which GET_DEPTH is black, white being at the lens; by default 40, in dialect 2 20"
    )
    heartbeat: NonNegative = Field(
        0.5, description="s of silence after which a client of dialect 2, not of 2.0, gets an empty ACK; 0 for never"
    )
    armed: bool | None = Field(
        None, description="whether motors of dialect 2 turn from the start; by default only those of 2.0 do"
    )
    course: CourseConfig = Field(CourseConfig(), description="zones of dialect 2")
    torpedo: str | None = Field(
        None, description="a dynamic object of the scenario that TORPEDO launches, in dialect 2"
    )

    @field_validator("dialect", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """YAML reads 2.0 without quotes as a number."""
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    def build(self) -> Interface:
        from skerry.interfaces.okon.interface import OkonInterface

        return OkonInterface(self)
