"""Objects of a scenario: bodies that are not robots; static, moved by the user, or free in the water."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from skerry.core.config import Config, Matrix6, NonNegative, Positive, Vector3, Vector6
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, quaternion_to_rpy, rpy_to_quaternion
from skerry.formats.urdf import Inertial, Shape, UrdfLink, UrdfRobot
from skerry.parts.law import LAWS, LawConfig, spatial_inertia
from skerry.scenario.geometry import CylinderGeometry, Geometry, Solid, SphereGeometry, as_value_error
from skerry.scenario.pose import PoseConfig

LINK = "body"

Share = Annotated[float, Field(ge=0, le=1)]
Colour = tuple[Share, Share, Share]


def _triple(values: NDArray[np.float64]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _rows(matrix: NDArray[np.float64]) -> tuple[Vector3, Vector3, Vector3]:
    return _triple(matrix[0]), _triple(matrix[1]), _triple(matrix[2])


class ShapeConfig(Config):
    """Shape of an object that has several; all shapes of an object are fixed to each other."""

    geometry: Geometry
    position: Vector3 = Field((0.0, 0.0, 0.0), description="position in the object's frame, m")
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    mass: Positive | None = Field(
        None, description="mass, kg, for a dynamic object without a `mass` of its own; 0 by default"
    )
    volume: NonNegative | None = Field(
        None, description="displaced volume, m³, 0 for a stripe around another shape; that of the geometry by default"
    )
    material: str | None = Field(None, description="material; that of the object by default")
    colour: Colour | None = Field(None, description="red, green and blue, 0 to 1; that of the object by default")
    glow: NonNegative = Field(
        0.0, description="emitted light; 1 is as bright as paper of this colour under a sun in the zenith"
    )
    collides: bool = Field(True, description="whether other bodies collide with it")

    def pose(self) -> Pose:
        """Return the pose of the shape in the object's frame."""
        turn = rpy_to_quaternion(np.radians([self.roll_deg, self.pitch_deg, self.yaw_deg]))
        return Pose(np.array(self.position), turn)

    def placed(self, shape: Shape) -> Shape:
        """Return a shape of the geometry, moved to the object's frame."""
        pose = self.pose() @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
        return replace(shape, position=_triple(pose.position), rpy=_triple(quaternion_to_rpy(pose.orientation)))

    def solid(self) -> Solid:
        """Return the displaced volume, the centre, and the inertia per unit of mass about it, in the object's axes."""
        volume, center, per_mass = self.geometry.solid()
        if self.volume is not None:
            volume = self.volume
        pose = self.pose()
        return volume, pose.transform(center), pose.rotation @ per_mass @ pose.rotation.T

    def cells(self, count: int) -> tuple[NDArray[np.float64], float]:
        """Return the points that carry the buoyancy, in the object's frame, and half the height of the part of each."""
        points, cell = self.geometry.cells(count)
        pose = self.pose()
        return pose.transform(points), 0.5 * float(np.abs(pose.rotation[2]) @ cell)


class MooringConfig(Config):
    """Mooring line of a dynamic object: a spring to the anchor when it is taut, without force when it is slack."""

    position: Vector3 = Field((0.0, 0.0, 0.0), description="attachment point in the object's frame, m")
    anchor: Vector3 | None = Field(
        None, description="anchor in the world, m; by default on the ground below the start position of the object"
    )
    scope: float = Field(1.02, ge=1, description="length of the line over the distance from start position to anchor")
    axial_stiffness: Positive = Field(50_000.0, description="E A, N: tension per strain")
    damping: NonNegative = Field(200.0, description="N s/m, while the line is taut")

    def law(self, pose: Pose, ground: float | None) -> LawConfig:
        """Return the mooring law.

        Args:
            pose: Start pose of the object.
            ground: Height of the ground below the object, m; None if there is no ground.
        """
        start = pose.transform(np.array(self.position))
        if self.anchor is not None:
            anchor = np.array(self.anchor)
        elif ground is None:
            raise SkerryError(
                "there is no ground below the object for its anchor; give `mooring.anchor`, or `mooring: null`"
            )
        else:
            anchor = np.array([start[0], start[1], ground])
        length = self.scope * float(np.linalg.norm(start - anchor))
        if length == 0.0:
            raise SkerryError(
                "the mooring line has length 0, because the object starts at its anchor; move the object or the anchor"
            )
        settings = {
            "kind": "mooring",
            "position": self.position,
            "anchor": anchor.tolist(),
            "length": length,
            "stiffness": self.axial_stiffness / length,
            "damping": self.damping,
        }
        return _law(settings)


ZERO: Vector6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
LAW_OF = {
    "linear_damping": ("damping", "linear"),
    "quadratic_damping": ("damping", "quadratic"),
    "added_mass": ("added_mass", "matrix"),
}
"""Law that each of these settings belongs to, and its name in that law."""
FORCES = ("mass", "volume", "center_of_mass", "center_of_volume", "mooring", *LAW_OF)


def _law(settings: dict[str, object]) -> LawConfig:
    config = LAWS.find(str(settings["kind"])).model_validate({"link": LINK, **settings})
    assert isinstance(config, LawConfig)
    return config


class ObjectConfig(Config):
    """Object in the world. A dynamic object has a mass and moves under gravity, buoyancy, drag and its mooring."""

    description: str = ""
    geometry: Geometry | None = Field(None, description="geometry of an object with one shape")
    shapes: dict[str, ShapeConfig] = Field({}, description="shapes of an object with several, by name")
    motion: Literal["static", "kinematic", "dynamic"] = "static"
    pose: PoseConfig = PoseConfig()
    mass: Positive | None = Field(None, description="kg; dynamic objects only")
    volume: NonNegative | None = Field(None, description="displaced volume, m³; that of the geometry by default")
    center_of_mass: Vector3 | None = Field(
        None, description="in the object's frame, m; that of the geometry by default"
    )
    center_of_volume: Vector3 | None = Field(
        None, description="in the object's frame, m; that of the geometry by default"
    )
    cells: int = Field(
        216, ge=1, le=10_000, description="number of buoyancy cells in the bounding box of the largest shape"
    )
    linear_damping: Vector6 | Matrix6 = ZERO
    quadratic_damping: Vector6 | Matrix6 | Literal["shape"] = Field(
        ZERO, description="six numbers or 6 × 6, for the speed |v| and |ω|; or `shape`: estimated from the geometry"
    )
    added_mass: Vector6 | Matrix6 | Literal["shape"] = Field(
        ZERO, description="six numbers or 6 × 6; or `shape`: estimated from the geometry"
    )
    mooring: MooringConfig | None = Field(None, description="mooring line; none by default")
    friction: NonNegative | None = Field(None, description="sliding coefficient; 1 by default")
    material: str = Field("default", description="material for sonars, lidars and cameras")
    category: str | None = Field(
        None, min_length=1, description="class name in detections; the name of the object by default"
    )
    colour: Colour = Field((0.7, 0.7, 0.7), description="red, green and blue, 0 to 1")

    @field_validator(*LAW_OF)
    @classmethod
    def _check_law_setting(
        cls, value: Vector6 | Matrix6 | Literal["shape"], info: ValidationInfo
    ) -> Vector6 | Matrix6 | Literal["shape"]:
        kind, setting = LAW_OF[str(info.field_name)]
        if value != "shape":
            _law({"kind": kind, setting: value})
        return value

    @model_validator(mode="after")
    def _check_shape(self) -> ObjectConfig:
        if (self.geometry is None) == (not self.shapes):
            raise ValueError("an object needs either a `geometry`, or `shapes`, or a `prop` that has them")
        return self

    @model_validator(mode="after")
    def _check_forces(self) -> ObjectConfig:
        masses = [shape.mass for shape in self.shapes.values()]
        if self.motion == "dynamic":
            if (self.mass is None) == (not any(masses)):
                rest = ", or a mass of its shapes, but not both" if masses else ""
                raise ValueError(f"a dynamic object needs a `mass`{rest}")
            with as_value_error():
                volumes = [shape.solid()[0] for shape in self.parts()]
            if sum(volumes) == 0.0:
                raise ValueError("at least one shape of a dynamic object must have a volume")
        else:
            fields = type(self).model_fields
            given = [name for name in FORCES if getattr(self, name) != fields[name].default]
            given += [f"shapes.{name}.mass" for name, shape in self.shapes.items() if shape.mass is not None]
            if given:
                raise ValueError(
                    f"forces act only on dynamic objects; this one is {self.motion}: remove {', '.join(given)}"
                )
        return self

    def parts(self) -> tuple[ShapeConfig, ...]:
        """Return the shapes of the object; a single `geometry` counts as one shape."""
        return tuple(self.shapes.values()) if self.geometry is None else (ShapeConfig(geometry=self.geometry),)

    def materials(self) -> dict[str, str]:
        """Return the names of its materials, by the setting that names them."""
        own = {f"shapes.{name}.material": shape.material for name, shape in self.shapes.items()}
        return {"material": self.material} | {setting: name for setting, name in own.items() if name is not None}

    def robot(self, name: str) -> UrdfRobot:
        """Return the object as a robot with one link."""
        visuals, collisions = [], []
        for part in self.parts():
            material, colour = part.material or self.material, (*(part.colour or self.colour), 1.0)
            visuals += [
                replace(part.placed(shape), material=material, colour=shape.colour or colour, glow=part.glow)
                for shape in part.geometry.visuals()
            ]
            if part.collides:
                collisions.append(part.placed(part.geometry.shape()))
        link = UrdfLink(LINK, self._inertial(), tuple(visuals), tuple(collisions))
        return UrdfRobot(name, {LINK: link}, {}, LINK, {})

    def forces(self, ground: float | None = None) -> dict[str, LawConfig]:
        """Return the settings of the laws that act on the object.

        Args:
            ground: Height of the ground below the start position, m; None if there is no ground.
        """
        if self.motion != "dynamic":
            return {}
        parts = self.parts()
        volumes, center = self._volumes()
        made = {"damping": self._damping(), "added_mass": self._added_mass(float(volumes.sum()))}
        if volumes.sum() > 0:
            moved = np.zeros(3) if self.center_of_volume is None else np.array(self.center_of_volume) - center
            wet = [(part, volume) for part, volume in zip(parts, volumes, strict=True) if volume > 0]
            for number, (part, volume) in enumerate(wet):
                points, half = part.cells(max(1, round(self.cells * volume / volumes.max())))
                made["buoyancy" if number == 0 else f"buoyancy_{number + 1}"] = _law(
                    {
                        "kind": "force_points",
                        "points": (points + moved).tolist(),
                        "volume": volume,
                        "depth_before_submerged": half,
                        "height_before_dry": half,
                    }
                )
        if self.mooring is not None:
            made["mooring"] = self.mooring.law(self.pose.build(), ground)
        return made

    @property
    def has_no_water_forces(self) -> bool:
        """Whether it is a dynamic object for which neither drag nor added mass is given, so that only buoyancy acts."""
        is_silent = self.model_fields_set.isdisjoint(LAW_OF)
        return self.motion == "dynamic" and is_silent and float(self._volumes()[0].sum()) > 0.0

    def _extent(self) -> tuple[list[float], list[float]]:
        """Return the lengths along x, y and z of the bounding box of all shapes, m, and its centre."""
        corners = np.concatenate([part.pose().transform(part.geometry.mesh().vertices) for part in self.parts()])
        low, high = corners.min(axis=0), corners.max(axis=0)
        return np.maximum(high - low, 1e-6).tolist(), (0.5 * (low + high)).tolist()

    def _damping(self) -> LawConfig:
        settings: dict[str, object] = {"kind": "damping", "linear": self.linear_damping, "quadratic_speed": "total"}
        if self.quadratic_damping != "shape":
            return _law({**settings, "quadratic": self.quadratic_damping})
        if isinstance(self.geometry, SphereGeometry):
            return _law({**settings, "bluff": {"shape": "ball", "size": [2 * self.geometry.radius] * 3}})
        size, center = self._extent()
        shape = "cylinder" if isinstance(self.geometry, CylinderGeometry) else "box"
        return _law({**settings, "position": center, "bluff": {"shape": shape, "size": size}})

    def _added_mass(self, volume: float) -> LawConfig:
        if self.added_mass != "shape":
            return _law({"kind": "added_mass", "matrix": self.added_mass})
        if volume == 0.0:
            return _law({"kind": "added_mass", "matrix": ZERO})
        (length, width, height), center = self._extent()
        if isinstance(self.geometry, SphereGeometry):
            length = width = height = 2 * self.geometry.radius
        shape = {"length": length, "width": width, "height": height, "volume": volume}
        return _law({"kind": "added_mass", "position": center, "ellipsoid": shape})

    def _volumes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the displaced volume of each shape, and the centre of the total volume."""
        solids = [part.solid() for part in self.parts()]
        own = np.array([volume for volume, _, _ in solids])
        center = own @ np.array([center for _, center, _ in solids]) / own.sum()
        return (own if self.volume is None else own * (self.volume / own.sum())), center

    def _inertial(self) -> Inertial | None:
        if self.motion != "dynamic":
            return None
        parts = self.parts()
        masses = [part.mass for part in parts]
        if self.mass is not None:
            volumes = [part.solid()[0] for part in parts]
            masses = [self.mass * volume / sum(volumes) for volume in volumes]
        total = np.zeros((6, 6))
        for part, mass in zip(parts, masses, strict=True):
            _, center, per_mass = part.solid()
            total += spatial_inertia(mass or 0.0, center, per_mass * (mass or 0.0))
        whole = float(total[0, 0])
        center = np.array([total[1, 5], -total[0, 5], total[0, 4]]) / whole
        inertia = total[3:, 3:] - spatial_inertia(whole, center, np.zeros((3, 3)))[3:, 3:]
        at = center if self.center_of_mass is None else np.array(self.center_of_mass)
        return Inertial(whole, _triple(at), (0.0, 0.0, 0.0), _rows(inertia))
