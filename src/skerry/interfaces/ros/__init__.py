"""ROS 2 and ROS 1 without ROS being installed: one vocabulary, one codec, one bus, and transports that carry it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from skerry.core.config import ExistingFolder, Rational, find_path, of_kind
from skerry.interfaces.ros.transport import TRANSPORTS
from skerry.interfaces.ros.vocabulary import Distribution
from skerry.interfaces.ros.waypoint_settings import WaypointConfig
from skerry.parts.interface import Interface, InterfaceConfig


def _beside_the_scenario(name: str) -> str:
    """A path, told from a shipped table's name by its ending, as relative to the file that names it."""
    return str(find_path(name)) if name.endswith((".yaml", ".yml")) else name


def _spoken(settings: Mapping[str, Any]) -> Distribution:
    """The distribution that a transport needs, if one does."""
    needed = (transport.needs for transport in settings.get("transports", {}).values())
    return next((distribution for distribution in needed if distribution is not None), "humble")


class Ros(InterfaceConfig):
    """The simulator as a node of a ROS graph."""

    kind: Literal["ros"] = "ros"
    transports: dict[str, of_kind(TRANSPORTS)] = Field({}, description="ways to peers, by a name of your own")  # type: ignore[valid-type]
    profile: Annotated[str, AfterValidator(_beside_the_scenario)] = Field(
        "smarc", description="topics and types: a shipped table's name, or the path of a file, .yaml"
    )
    distribution: Distribution = Field(
        default_factory=_spoken,
        description="whose definitions are meant where they differ: `noetic` with a transport of ROS 1, else `humble`",
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
        from skerry.interfaces.ros.node import RosInterface

        return RosInterface(self)
