"""A profile: which topic, type and rate each sensor and actuator speaks, as data in a file."""

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
    """A topic on which a sensor's readings are said."""

    topic: str = Field(
        min_length=1, description="absolute with a leading /, else below the robot's name; {name} is the part's"
    )
    type: str = Field(description="of the message")
    frequency: Rational | None = Field(
        None, gt=0, description="messages per second at most, Hz; all readings by default"
    )
    value: str | None = Field(None, description="of the reading, to be said as the message's `data`, such as `depth`")
    ignore_sensor_state: bool = Field(False, description="say the last reading again if there is no new one")
    latest_only: bool = Field(False, description="let a slow peer have the latest message only, as for pictures")


class CommandRow(Config):
    """A topic by which an actuator is commanded."""

    topic: str = Field(min_length=1)
    type: str
    field: str = Field(description="of the message, such as `rpm` or `data`")
    scale: float = Field(1.0, description="the actuator's own unit per unit of the message")
    keyword: str | None = Field(None, description="of the command, such as `rpm`; the actuator's own by default")


class FeedbackRow(Config):
    """A topic on which an actuator says what it really does."""

    topic: str = Field(min_length=1)
    type: str
    field: str
    scale: float = Field(1.0, description="the actuator's own unit per unit of the message")
    frequency: Rational = Field(Fraction(10), gt=0, description="Hz")


class ActuatorRow(Config):
    """How an actuator is commanded, and what it says."""

    command: CommandRow | None = None
    feedback: FeedbackRow | None = None


class ActionRow(Config):
    """An action."""

    topic: str = Field(min_length=1, description="its name, as of a topic")
    type: str


class EstimateRow(Config):
    """A topic on which a robot says where it believes it is."""

    topic: str = Field(min_length=1)
    type: str
    value: Literal["depth", "yaw", "pitch", "roll"] | None = Field(None, description="to be said as `data`")
    frequency: Rational = Field(Fraction(10), gt=0, description="Hz")


class SwitchRow(Config):
    """How a sensor is switched on and off."""

    service: str = Field(min_length=1, description="a std_srvs/SetBool")
    status: str = Field(min_length=1, description="a topic, smarc_msgs/SensorStatus, once a second")


class SoundRow(Config):
    """The topics of an acoustic modem, smarc_msgs/StringStamped."""

    read: str = Field(min_length=1, description="what it hears")
    write: str = Field(min_length=1, description="what it is to send")


class RopeRow(Config):
    """The topics of a rope."""

    tension: str = Field(min_length=1, description="the largest in it, N, smarc_msgs/FloatStamped")
    length: str = Field(min_length=1, description="at rest, m, smarc_msgs/FloatStamped")
    hook: str = Field(min_length=1, description="what its hook is at, if it has one, std_msgs/String")


class ConversionRow(Config):
    """The services between latitude and longitude and UTM, below each robot's name."""

    lat_lon_to_utm: str = Field(min_length=1)
    utm_to_lat_lon: str = Field(min_length=1)


class AskRow(Config):
    """A topic by which something is asked of a controller."""

    topic: str = Field(min_length=1)
    type: str
    method: str = Field(pattern="^[a-z][a-z_]*$", description="of the controller, such as `command`")
    arguments: dict[str, str | tuple[str, ...]] = Field(
        description="of the method, each a field of the message or a list of them; a minus turns the sign"
    )


class ControllerRow(Config):
    """What a controller may be asked for."""

    asks: tuple[AskRow, ...] = ()
    helm: str | None = Field(None, description="namespace of the topics and services of its set-points one by one")
    abort: str | None = Field(
        None, description="a topic, std_msgs/Empty, that lets it surface and hear nobody any more"
    )
    limits: bool = Field(False, description="whether its limits are parameters below the robot's name")
    estimates: tuple[EstimateRow, ...] = Field((), description="for controllers of kind `dead_reckoning`")
    goto: ActionRow | None = Field(None, description="to go to a waypoint, for controllers of kind `waypoint`")


class Table(Config):
    """Rows of parts, by kind or by name; `rpm` is any other actuator that takes an rpm, `*` any other at all."""

    sensors: dict[str, tuple[SensorRow, ...]] = {}  # noqa: RUF012
    actuators: dict[str, ActuatorRow] = {}  # noqa: RUF012
    controllers: dict[str, ControllerRow] = {}  # noqa: RUF012
    switches: dict[str, SwitchRow] = Field({}, description="of sensors, by kind or by name")
    acoustics: dict[str, SoundRow] = {}  # noqa: RUF012


class VehicleTable(Table):
    """Rows of one vehicle's parts by name; those of its `kinds` come after."""

    names: dict[str, str] = Field(
        {}, description="what stands for {name} in topics where it is not the part's own name"
    )
    kinds: Table = Table()


class Profile(Config):
    """Rows for kinds of parts, and for the parts of some vehicles, which go first."""

    description: str = ""
    kinds: Table = Table()
    vehicles: dict[str, VehicleTable] = {}  # noqa: RUF012
    ropes: RopeRow | None = None
    conversions: ConversionRow | None = None
    waypoint: str | None = Field(None, description="topic of each robot, smarc_mission_msgs/GotoWaypoint, to be drawn")

    def sensor(self, vehicle: str, name: str, kind: str) -> tuple[SensorRow, ...]:
        """The rows of a sensor."""
        own = self._of(vehicle)
        return _first((own.sensors, name), (own.kinds.sensors, kind), (self.kinds.sensors, kind)) or ()

    def actuator(self, vehicle: str, name: str, kind: str, takes_rpm: bool = False) -> ActuatorRow:
        """The row of an actuator."""
        own, shared = self._of(vehicle), self.kinds.actuators
        places = [(own.actuators, name), (own.kinds.actuators, kind), (shared, kind)]
        places += [(shared, RPM), (shared, ANY)] if takes_rpm else [(shared, ANY)]
        return _first(*places) or ActuatorRow()

    def controller(self, vehicle: str, name: str, kind: str) -> ControllerRow:
        """The row of a controller."""
        own, shared = self._of(vehicle), self.kinds.controllers
        return _first((own.controllers, name), (own.kinds.controllers, kind), (shared, kind)) or ControllerRow()

    def switch(self, vehicle: str, name: str, kind: str) -> SwitchRow | None:
        """The row of a sensor's switch."""
        own, shared = self._of(vehicle), self.kinds.switches
        found: SwitchRow | None = _first((own.switches, name), (own.kinds.switches, kind), (shared, kind))
        return found

    def sound(self, vehicle: str, name: str, kind: str) -> SoundRow | None:
        """The row of an acoustic part."""
        own, shared = self._of(vehicle), self.kinds.acoustics
        found: SoundRow | None = _first((own.acoustics, name), (own.kinds.acoustics, kind), (shared, kind))
        return found

    def word(self, vehicle: str, name: str) -> str:
        """What stands for {name} in the topics of a part."""
        return self._of(vehicle).names.get(name, name)

    def _of(self, vehicle: str) -> VehicleTable:
        return self.vehicles.get(vehicle, VehicleTable())


def _first(*places: tuple[dict[str, Any], str]) -> Any:
    return next((table[key] for table, key in places if key in table), None)


def topic_name(pattern: str, robot: str, name: str, number: int = 1) -> str:
    """The full name of a topic: relative ones are below the robot's name; {number} counts parts of one kind from 1."""
    filled = pattern.replace("{name}", ros_name(name)).replace("{robot}", ros_name(robot))
    filled = filled.replace("{number}", str(number))
    return filled if filled.startswith("/") else f"/{ros_name(robot)}/{filled}"


def shipped_profiles() -> list[str]:
    """The names of the profiles that come with Skerry."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or one from a file; `extends:` in a file names the one that it is laid over."""
    document = _read(name)
    return Profile.load(document)


def _read(name: str) -> Document:
    path = SHIPPED / f"{name}.yaml"
    if not is_file(path):
        path = expand_user(name)
    if not is_file(path):
        raise SkerryError(f"there is no profile {name!r}; {did_you_mean(name, shipped_profiles())}, or give a file")
    document = read_document(path)
    if not isinstance(document.data, dict):
        return document
    own: dict[str, Any] = dict(document.data)
    base = own.pop("extends", None)
    merged = own if base is None else _laid_over(_read(str(base)).data, own)
    return Document(document.source, merged, document.origins)


def _laid_over(base: Any, top: Any) -> Any:
    if isinstance(base, dict) and isinstance(top, dict):
        return {key: _laid_over(base.get(key), top[key]) if key in top else base[key] for key in {**base, **top}}
    return top
