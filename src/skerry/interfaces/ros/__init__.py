"""The ROS interface, for ROS 2 and ROS 1 without an installation of ROS: messages, a bus, a bridge and transports."""

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

JAZZY_COMPATIBLE: Final = ("iron", "kilted", "lyrical", "rolling")
"""ROS 2 distributions whose definitions are equal to those of Jazzy for all shipped types."""


def _profile_path(name: str) -> str:
    """Return the path of a profile file relative to the scenario file; other names are those of shipped profiles."""
    return str(resolve_path(name)) if name.endswith((".yaml", ".yml")) else name


def _default_distribution(settings: Mapping[str, Any]) -> Distribution:
    """Return the distribution of the environment, if all transports support it, or Jazzy for DDS, or the first one."""
    transports = settings.get("transports", {}).values()
    possible = [name for name in DISTRIBUTIONS if all(name in transport.distributions for transport in transports)]
    environment = os.environ.get("ROS_DISTRO", "") if transports else ""
    environment = "jazzy" if environment in JAZZY_COMPATIBLE else environment
    if environment not in possible and any(transport.kind == "dds" for transport in transports):
        environment = "jazzy"  # the newest distribution with long-term support
    return next((name for name in possible if name == environment), next(iter(possible), "humble"))


class Ros(InterfaceConfig):
    """Settings of the ROS interface, which makes the simulator a node of a ROS graph."""

    kind: Literal["ros"] = "ros"
    transports: dict[str, config_of(TRANSPORTS)] = Field({}, description="connections to peers, by name")  # type: ignore[valid-type]
    profile: Annotated[str, AfterValidator(_profile_path)] = Field(
        "smarc", description="table of topics and types: the name of a shipped profile, or the path of a .yaml file"
    )
    distribution: Distribution = Field(
        default_factory=_default_distribution,
        description="ROS distribution whose message definitions are used; by default that of ROS_DISTRO in the "
        "environment, if the transports support it, otherwise `jazzy` with `dds`, `noetic` with a transport of ROS 1, "
        "and `humble` with others",
    )
    message_paths: tuple[ExistingFolder, ...] = Field((), description="folders with your own message packages")
    frame_suffix: str = Field("_gt", description="suffix of frame names, which separates them from those of a robot")
    clock_frequency: Rational = Field(Fraction(100), gt=0, description="rate of /clock in simulated time, Hz")
    frame_frequency: Rational = Field(Fraction(10), gt=0, description="rate of /tf, Hz")

    subscribe_frames: bool = Field(True, description="subscribe to /tf and display the frames of peers")
    percent_package: Literal["smarc_msgs", "sam_msgs"] = Field(
        "smarc_msgs", description="package of PercentStamped; SMaRC has defined it in both"
    )
    waypoints: dict[str, WaypointConfig] = Field(
        {}, description="topics whose waypoints are displayed, by a name of your choice"
    )

    def build(self) -> Interface:
        from skerry.interfaces.ros.bridge.node import RosInterface

        return RosInterface(self)
