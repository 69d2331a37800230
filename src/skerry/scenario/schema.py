"""Schema of a scenario file."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from skerry.core.config import Config, Positive, Rational, config_of
from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.geo import GeoReference
from skerry.formats.yaml_documents import dump_document
from skerry.parts.interface import INTERFACES
from skerry.ropes.config import RopeConfig
from skerry.scenario.events import EventConfig
from skerry.scenario.merging import to_plain
from skerry.scenario.objects import ObjectConfig
from skerry.scenario.pose import PoseConfig
from skerry.terrain import TERRAINS
from skerry.terrain.materials import Material, find_material
from skerry.water import WaterConfig
from skerry.water.daylight import SkyConfig
from skerry.water.fields import FieldConfig


def _name(value: str) -> str:
    if not value or "/" in value or value != value.strip():
        raise ValueError("a name must not be empty, contain '/', or begin or end with a space")
    return value


Name = Annotated[str, AfterValidator(_name)]


class RobotConfig(Config):
    """Robot in the world: its vehicle, its start pose, and overrides of the vehicle's settings."""

    vehicle: str = Field(description="name of a shipped vehicle, or path of a vehicle folder")
    pose: PoseConfig = PoseConfig()
    commands: dict[str, dict[str, float]] = Field(
        {}, description="commands of its actuators at the start, by name: {thruster1: {rpm: 500}}"
    )
    noise: Literal["none"] | None = Field(
        None, description="`none`: all its sensors and acoustic parts measure exactly"
    )
    anchored: bool = Field(False, description="hold the root link fixed, as on a test stand")
    overrides: Annotated[dict[str, object], AfterValidator(to_plain)] = Field(
        {}, description="settings that replace those of vehicle.yaml, as a tree; null removes a part"
    )


class VisualizerConfig(Config):
    """Particles that make the force fields visible."""

    count: int = Field(100, ge=1, le=10_000, description="number of particles that are kept alive")
    lifetime: Positive = Field(1.0, description="longest life of a particle, s")
    size: Positive = Field(0.1, description="radius of a drawn particle, m")
    trail: int = Field(10, ge=1, le=100, description="number of past positions that are drawn of each particle")
    frequency: Rational = Field(
        Fraction(20), gt=0, description="rate at which particles move, Hz; at most once per step"
    )
    recycle_when_out: bool = Field(True, description="replace particles that are outside all fields")
    spawn_strictly_inside: bool = Field(
        False, description="create particles where a field acts, in the water or above it, not in its bounding box"
    )


class Scenario(Config):
    """Checked scenario: all data needed to build a world."""

    name: str = ""
    description: str = ""
    seed: int = Field(0, ge=0, lt=2**63)
    noise: Literal["none"] | None = Field(None, description="`none`: all sensors and acoustic parts measure exactly")
    step: Rational = Field(Fraction(1, 200), gt=0, le=Fraction(1, 10), description="length of a physics step, s")
    integrator: Literal["implicitfast", "euler", "rk4"] = "implicitfast"
    duration: Positive | None = Field(None, description="length of a run, s; unlimited by default")
    gravity: float = Field(9.81, ge=0, le=100, description="m/s²")
    reference: GeoReference | None = Field(
        None, description="position of the world's origin, or of another point, on the Earth"
    )
    water: WaterConfig = WaterConfig()
    sky: SkyConfig = Field(SkyConfig(), description="sun and sky for cameras")
    visualizer: VisualizerConfig | None = Field(
        None, description="particles that show the force fields; none by default"
    )
    fields: dict[Name, FieldConfig] = Field({}, description="force fields, by name")
    materials: dict[Name, Material] = Field({}, description="additional materials, by name")
    terrain: config_of(TERRAINS) | None = None  # type: ignore[valid-type]
    robots: dict[Name, RobotConfig] = {}  # noqa: RUF012
    objects: dict[Name, ObjectConfig] = {}  # noqa: RUF012
    ropes: dict[Name, RopeConfig] = Field({}, description="ropes between robots, objects and points, by name")
    events: tuple[EventConfig, ...] = Field((), description="events at given times")
    interfaces: dict[Name, config_of(INTERFACES)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    @model_validator(mode="after")
    def _check_names(self) -> Scenario:
        if both := sorted(self.objects.keys() & self.robots.keys()):
            raise ValueError(f"a robot and an object must not have the same name (found {', '.join(both)})")
        return self

    @model_validator(mode="after")
    def _find_reference_point(self) -> Scenario:
        """Replace the name of the reference point by the start position of that object or robot."""
        if self.reference is not None and isinstance(name := self.reference.at, str):
            known: dict[str, ObjectConfig | RobotConfig] = {**self.objects, **self.robots}
            if name not in known:
                raise ValueError(f"reference.at: there is no object or robot {name!r}; {did_you_mean(name, known)}")
            found = self.reference.model_copy(update={"at": known[name].pose.position})
            self.__dict__["reference"] = found
        return self

    @model_validator(mode="after")
    def _check_ropes(self) -> Scenario:
        if wound := [name for name, rope in self.ropes.items() if rope.winch is not None]:
            raise ValueError(
                f"ropes.{wound[0]}: a rope with a `winch` is a part of the vehicle; move it to its vehicle.yaml"
            )
        return self

    @model_validator(mode="after")
    def _check_materials(self) -> Scenario:
        named = {
            f"objects.{name}.{setting}": material
            for name, thing in self.objects.items()
            for setting, material in thing.materials().items()
        }
        if self.terrain is not None:
            named |= {f"terrain.{setting}": name for setting, name in self.terrain.named_materials().items()}
        problems = []
        for setting, name in named.items():
            try:
                find_material(name, self.materials)
            except UnknownName as error:
                problems.append(f"{setting}: {error}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def with_seeds(self) -> Scenario:
        """Return the scenario with its seed passed to terrain and water, where they have no seed of their own."""
        terrain = None if self.terrain is None else self.terrain.with_seed(self.seed)
        return self.model_copy(update={"terrain": terrain, "water": self.water.with_seed(self.seed)})

    def dump(self) -> str:
        """Return the scenario as YAML text that loads back equal."""
        return dump_document(self.model_dump(mode="json"))
