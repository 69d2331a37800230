"""Topic profiles: tables in YAML files with the topics, message types and rates of sensors, actuators, controllers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from skerry.core.config import Config, Rational, expand_user, is_file
from skerry.core.document import Document
from skerry.core.errors import SkerryError, did_you_mean
from skerry.formats.yaml_documents import read_document
from skerry.world.frame_tree import ros_name

SHIPPED: Final = Path(__file__).parent / "profiles"
ANY: Final = "*"
RPM: Final = "rpm"


class SensorRow(Config):
    """Topic on which the readings of a sensor are published."""

    topic: str = Field(
        min_length=1,
        description="name of the topic, below the robot's name unless it begins with /; {name} is the part's name",
    )
    type: str = Field(description="message type")
    frequency: Rational | None = Field(None, gt=0, description="maximum rate of messages, Hz; all readings by default")
    value: str | None = Field(
        None, description="value of the reading that is published as `data` of the message, such as `depth`"
    )
    ignore_sensor_state: bool = Field(False, description="publish the last reading again if there is no new one")
    latest_only: bool = Field(
        False, description="send only the latest message to a slow subscriber, for example of images"
    )


class CommandRow(Config):
    """Topic of the commands of an actuator."""

    topic: str = Field(min_length=1)
    type: str
    field: str = Field(description="field of the message with the command, such as `rpm` or `data`")
    scale: float = Field(1.0, description="the actuator's own unit per unit of the message")
    keyword: str | None = Field(
        None, description="keyword of the command, such as `rpm`; by default that of the actuator"
    )


class FeedbackRow(Config):
    """Topic of the measured state of an actuator."""

    topic: str = Field(min_length=1)
    type: str
    field: str = Field(description="field of the message with the state")
    scale: float = Field(1.0, description="the actuator's own unit per unit of the message")
    frequency: Rational = Field(Fraction(10), gt=0, description="Hz")


class ActuatorRow(Config):
    """Topics of an actuator."""

    command: CommandRow | None = None
    feedback: FeedbackRow | None = None


class ActionRow(Config):
    """Action of a controller."""

    topic: str = Field(min_length=1, description="name of the action, in the form of a topic name")
    type: str


class EstimateRow(Config):
    """Topic of the position that a robot estimates."""

    topic: str = Field(min_length=1)
    type: str
    value: Literal["depth", "yaw", "pitch", "roll"] | None = Field(
        None, description="value of the estimate that is published as `data`"
    )
    frequency: Rational = Field(Fraction(10), gt=0, description="Hz")


class SwitchRow(Config):
    """Service and topic of a sensor switch."""

    service: str = Field(min_length=1, description="service that switches the sensor, std_srvs/SetBool")
    status: str = Field(min_length=1, description="topic of the status once per second, smarc_msgs/SensorStatus")


class ModemRow(Config):
    """Topics of an acoustic modem, smarc_msgs/StringStamped."""

    read: str = Field(min_length=1, description="topic of received packets")
    write: str = Field(min_length=1, description="topic of packets to transmit")


class RopeRow(Config):
    """Topics of a rope."""

    tension: str = Field(min_length=1, description="topic of the largest tension, N, smarc_msgs/FloatStamped")
    length: str = Field(min_length=1, description="topic of the unstretched length, m, smarc_msgs/FloatStamped")
    hook: str = Field(min_length=1, description="topic of the state of the hook, std_msgs/String")


class ConversionRow(Config):
    """Services of each robot that convert between latitude and longitude and UTM."""

    lat_lon_to_utm: str = Field(min_length=1)
    utm_to_lat_lon: str = Field(min_length=1)


class CallRow(Config):
    """Topic whose messages call a method of a controller."""

    topic: str = Field(min_length=1)
    type: str
    method: str = Field(pattern="^[a-z][a-z_]*$", description="method of the controller, such as `command`")
    arguments: dict[str, str | tuple[str, ...]] = Field(
        description="arguments of the method, each a field of the message or a list of fields; a minus negates a field"
    )


class ControllerRow(Config):
    """Topics, services and parameters of a controller."""

    calls: tuple[CallRow, ...] = ()
    setpoints: str | None = Field(None, description="namespace of the topics and services of its setpoints")
    abort: str | None = Field(
        None, description="topic that makes it surface and ignore further commands, std_msgs/Empty"
    )
    limits: bool = Field(False, description="publish its limits as parameters below the robot's name")
    estimates: tuple[EstimateRow, ...] = Field(
        (), description="topics of the estimate, for controllers of kind `dead_reckoning`"
    )
    goto: ActionRow | None = Field(None, description="action to go to a waypoint, for controllers of kind `waypoint`")


class TopicTable(Config):
    """Rows of parts, by kind or by name.

    The key `rpm` is for other actuators whose command is an rpm, and `*` for all other actuators.
    """

    sensors: dict[str, tuple[SensorRow, ...]] = {}  # noqa: RUF012
    actuators: dict[str, ActuatorRow] = {}  # noqa: RUF012
    controllers: dict[str, ControllerRow] = {}  # noqa: RUF012
    switches: dict[str, SwitchRow] = Field({}, description="switches of sensors, by kind or by name")
    acoustics: dict[str, ModemRow] = {}  # noqa: RUF012


class VehicleTopicTable(TopicTable):
    """Rows of one vehicle's parts by name; they take precedence over the rows of its `kinds`."""

    names: dict[str, str] = Field({}, description="replacement of {name} in topics, by the name of the part")
    kinds: TopicTable = TopicTable()


class TopicProfile(Config):
    """Rows for kinds of parts, and for the parts of some vehicles, which take precedence."""

    description: str = ""
    kinds: TopicTable = TopicTable()
    vehicles: dict[str, VehicleTopicTable] = {}  # noqa: RUF012
    ropes: RopeRow | None = None
    conversions: ConversionRow | None = None
    waypoint: str | None = Field(
        None, description="topic of each robot whose waypoints are displayed, smarc_mission_msgs/GotoWaypoint"
    )

    def sensor(self, vehicle: str, name: str, kind: str) -> tuple[SensorRow, ...]:
        """Return the rows of a sensor."""
        own = self._of(vehicle)
        return _first((own.sensors, name), (own.kinds.sensors, kind), (self.kinds.sensors, kind)) or ()

    def actuator(self, vehicle: str, name: str, kind: str, takes_rpm: bool = False) -> ActuatorRow:
        """Return the row of an actuator; `takes_rpm` tells whether its command may be an rpm."""
        own, shared = self._of(vehicle), self.kinds.actuators
        rows = [(own.actuators, name), (own.kinds.actuators, kind), (shared, kind)]
        rows += [(shared, RPM), (shared, ANY)] if takes_rpm else [(shared, ANY)]
        return _first(*rows) or ActuatorRow()

    def controller(self, vehicle: str, name: str, kind: str) -> ControllerRow:
        """Return the row of a controller."""
        own, shared = self._of(vehicle), self.kinds.controllers
        return _first((own.controllers, name), (own.kinds.controllers, kind), (shared, kind)) or ControllerRow()

    def switch(self, vehicle: str, name: str, kind: str) -> SwitchRow | None:
        """Return the row of a sensor's switch."""
        own, shared = self._of(vehicle), self.kinds.switches
        found: SwitchRow | None = _first((own.switches, name), (own.kinds.switches, kind), (shared, kind))
        return found

    def modem(self, vehicle: str, name: str, kind: str) -> ModemRow | None:
        """Return the row of an acoustic modem."""
        own, shared = self._of(vehicle), self.kinds.acoustics
        found: ModemRow | None = _first((own.acoustics, name), (own.kinds.acoustics, kind), (shared, kind))
        return found

    def part_name(self, vehicle: str, name: str) -> str:
        """Return the text that replaces {name} in the topics of a part."""
        return self._of(vehicle).names.get(name, name)

    def _of(self, vehicle: str) -> VehicleTopicTable:
        return self.vehicles.get(vehicle, VehicleTopicTable())


def _first(*rows: tuple[dict[str, Any], str]) -> Any:
    return next((table[key] for table, key in rows if key in table), None)


def topic_name(pattern: str, robot: str, name: str, number: int = 1) -> str:
    """Return the full name of a topic.

    Args:
        pattern: Name with the placeholders {name}, {robot} and {number}; without a leading / below the robot's name.
        robot: Name of the robot.
        name: Name of the part.
        number: Number of the part among the parts of its kind, from 1.
    """
    filled = pattern.replace("{name}", ros_name(name)).replace("{robot}", ros_name(robot))
    filled = filled.replace("{number}", str(number))
    return filled if filled.startswith("/") else f"/{ros_name(robot)}/{filled}"


def shipped_profiles() -> list[str]:
    """Return the names of the profiles that come with Skerry."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_profile(name: str) -> TopicProfile:
    """Return a shipped profile by name, or the profile of a file; `extends:` names the profile that a file modifies."""
    document = _read(name)
    return TopicProfile.load(document)


def _read(name: str) -> Document:
    path = SHIPPED / f"{name}.yaml"
    if not is_file(path):
        path = expand_user(name)
    if not is_file(path):
        raise SkerryError(
            f"there is no profile {name!r}; {did_you_mean(name, shipped_profiles())}, or give the path of a file"
        )
    document = read_document(path)
    if not isinstance(document.data, dict):
        return document
    own: dict[str, Any] = dict(document.data)
    base = own.pop("extends", None)
    merged = own if base is None else _merged(_read(str(base)).data, own)
    return Document(document.source, merged, document.origins)


def _merged(base: Any, top: Any) -> Any:
    if isinstance(base, dict) and isinstance(top, dict):
        return {key: _merged(base.get(key), top[key]) if key in top else base[key] for key in {**base, **top}}
    return top
