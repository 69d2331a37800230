"""What a scenario file may say."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from skerry.core.config import Config, Positive, Rational, config_of
from skerry.core.errors import UnknownName
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
        raise ValueError("a name must not be empty, contain '/' or begin or end with a space")
    return value


Name = Annotated[str, AfterValidator(_name)]


class RobotConfig(Config):
    """A robot in the world: a vehicle, where it starts, and values of its parts that differ here."""

    vehicle: str = Field(description="a shipped vehicle's name, or the path of a vehicle folder")
    pose: PoseConfig = PoseConfig()
    commands: dict[str, dict[str, float]] = Field(
        {}, description="what its actuators are commanded at the start, by name: {thruster1: {rpm: 500}}"
    )
    anchored: bool = Field(False, description="hold the base in place, as on a test stand")
    overrides: Annotated[dict[str, object], AfterValidator(to_plain)] = Field(
        {}, description="any value of vehicle.yaml, as a tree; null removes a part"
    )


class VisualizerConfig(Config):
    """A pool of light particles that show the force fields."""

    count: int = Field(100, ge=1, le=10_000)
    lifetime: Positive = Field(1.0, description="s that a particle lives at most")
    size: Positive = Field(0.1, description="m, for those who draw them")
    trail: int = Field(10, ge=1, le=100, description="places of each that are remembered")
    frequency: Rational = Field(Fraction(20), gt=0, description="Hz at which they move; at most once a step")
    recycle_when_out: bool = Field(True, description="a particle that no field moves dies")
    spawn_strictly_inside: bool = Field(False, description="born inside a field, not just in the box around it")


class Scenario(Config):
    """A checked scenario: all that is needed to build a world, as data."""

    name: str = ""
    description: str = ""
    seed: int = Field(0, ge=0, lt=2**63)
    step: Rational = Field(Fraction(1, 200), gt=0, le=Fraction(1, 10), description="length of a physics step, s")
    integrator: Literal["implicitfast", "euler", "rk4"] = "implicitfast"
    duration: Positive | None = Field(None, description="s after which a run ends; open by default")
    gravity: float = Field(9.81, ge=0, le=100, description="m/s²")
    reference: GeoReference | None = Field(None, description="the place on earth of the world's origin")
    water: WaterConfig = WaterConfig()
    sky: SkyConfig = Field(SkyConfig(), description="sun and sky, as cameras see them")
    visualizer: VisualizerConfig | None = Field(None, description="particles that show the fields; none by default")
    fields: dict[Name, FieldConfig] = Field({}, description="force fields, by name")
    materials: dict[Name, Material] = Field({}, description="materials of your own, by name, beside the shipped ones")
    terrain: config_of(TERRAINS) | None = None  # type: ignore[valid-type]
    robots: dict[Name, RobotConfig] = {}  # noqa: RUF012
    objects: dict[Name, ObjectConfig] = {}  # noqa: RUF012
    ropes: dict[Name, RopeConfig] = Field({}, description="ropes between robots, objects and points, by name")
    events: tuple[EventConfig, ...] = Field((), description="what happens at given times")
    interfaces: dict[Name, config_of(INTERFACES)] = {}  # type: ignore[valid-type]  # noqa: RUF012

    @model_validator(mode="after")
    def _names_differ(self) -> Scenario:
        if both := sorted(self.objects.keys() & self.robots.keys()):
            raise ValueError(f"a robot and an object have the same name: {', '.join(both)}")
        return self

    @model_validator(mode="after")
    def _ropes_have_no_winch(self) -> Scenario:
        if wound := [name for name, rope in self.ropes.items() if rope.winch is not None]:
            raise ValueError(f"ropes.{wound[0]}: a rope on a winch is a part of the vehicle that carries the winch")
        return self

    @model_validator(mode="after")
    def _materials_are_known(self) -> Scenario:
        named = {
            f"objects.{name}.{place}": material
            for name, thing in self.objects.items()
            for place, material in thing.materials().items()
        }
        if self.terrain is not None:
            named |= {f"terrain.{place}": name for place, name in self.terrain.named_materials().items()}
        problems = []
        for place, name in named.items():
            try:
                find_material(name, self.materials)
            except UnknownName as error:
                problems.append(f"{place}: {error}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def with_seeds(self) -> Scenario:
        """The scenario with its seed given to the parts that take theirs from it."""
        terrain = None if self.terrain is None else self.terrain.with_seed(self.seed)
        return self.model_copy(update={"terrain": terrain, "water": self.water.with_seed(self.seed)})

    def dump(self) -> str:
        """The scenario as YAML that loads back equal."""
        return dump_document(self.model_dump(mode="json"))
