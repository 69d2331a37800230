"""ROS 2 and ROS 1 without ROS being installed: one vocabulary, one codec, one bus, and transports that carry it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from skerry.core.config import ExistingFolder, Rational, config_of, resolve_path
from skerry.interfaces.ros.bridge.waypoint_settings import WaypointConfig
from skerry.interfaces.ros.bus.transport import TRANSPORTS
from skerry.interfaces.ros.messages.type_store import DISTRIBUTIONS, Distribution
from skerry.parts.interface import Interface, InterfaceConfig

LATER: Final = ("iron", "kilted", "lyrical", "rolling")
"""Distributions of ROS 2 that have the definitions of Jazzy, as far as these are concerned."""


def _beside_the_scenario(name: str) -> str:
    """A path, told from a shipped table's name by its ending, as relative to the file that names it."""
    return str(resolve_path(name)) if name.endswith((".yaml", ".yml")) else name


def _spoken(settings: Mapping[str, Any]) -> Distribution:
    """That of the environment, if there are transports and all can be of it; else the first that all can be of."""
    transports = settings.get("transports", {}).values()
    possible = [name for name in DISTRIBUTIONS if all(name in transport.distributions for transport in transports)]
    around = os.environ.get("ROS_DISTRO", "") if transports else ""
    around = "jazzy" if around in LATER else around
    return next((name for name in possible if name == around), next(iter(possible), "humble"))


class Ros(InterfaceConfig):
    """The simulator as a node of a ROS graph."""

    kind: Literal["ros"] = "ros"
    transports: dict[str, config_of(TRANSPORTS)] = Field({}, description="ways to peers, by a name of your own")  # type: ignore[valid-type]
    profile: Annotated[str, AfterValidator(_beside_the_scenario)] = Field(
        "smarc", description="topics and types: a shipped table's name, or the path of a file, .yaml"
    )
    distribution: Distribution = Field(
        default_factory=_spoken,
        description="whose definitions are meant where they differ; by default that of ROS_DISTRO in the environment, "
        "if the transports can be of it, else `humble`, or `noetic` with one of ROS 1",
    )
    message_paths: tuple[ExistingFolder, ...] = Field((), description="folders with packages of your own definitions")
    frame_suffix: str = Field("_gt", description="at the end of frames, so that they are beside those of a robot's own")
    clock_frequency: Rational = Field(Fraction(100), gt=0, description="Hz of simulated time at which /clock is said")
    frame_frequency: Rational = Field(Fraction(10), gt=0, description="Hz at which /tf is said")

    hear_frames: bool = Field(True, description="keep frames that others say on /tf, to be shown")
    percent_package: Literal["smarc_msgs", "sam_msgs"] = Field(
        "smarc_msgs", description="whose PercentStamped is meant; SMaRC has had it in both"
    )
    waypoints: dict[str, WaypointConfig] = Field({}, description="topics of waypoints to be shown, by a name of yours")

    def build(self) -> Interface:
        from skerry.interfaces.ros.bridge.node import RosInterface

        return RosInterface(self)
