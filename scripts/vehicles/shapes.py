"""Builder of a vehicle's robot.urdf from links, joints and coloured primitives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

VEHICLES = Path(__file__).parents[2] / "src" / "skerry" / "vehicles"
# Roll, pitch, yaw that turn a cylinder or capsule from z to x and to y.
TOWARDS_X = (0.0, 1.5707963267948966, 0.0)
TOWARDS_Y = (1.5707963267948966, 0.0, 0.0)

COLOURS = {
    "black": (0.08, 0.08, 0.09),
    "blue": (0.05, 0.30, 0.62),
    "cyan": (0.10, 0.62, 0.80),
    "grey": (0.55, 0.57, 0.60),
    "orange": (0.95, 0.42, 0.06),
    "red": (0.75, 0.10, 0.08),
    "white": (0.90, 0.91, 0.92),
    "yellow": (0.96, 0.78, 0.05),
}


def numbers(values: Sequence[float]) -> str:
    """Return numbers as URDF text."""
    return " ".join(f"{value:.10g}" for value in values)


def box(x: float, y: float, z: float) -> str:
    """Return a box with these lengths, m."""
    return f'<box size="{numbers((x, y, z))}"/>'


def sphere(radius: float) -> str:
    """Return a sphere."""
    return f'<sphere radius="{radius:.10g}"/>'


def cylinder(radius: float, length: float) -> str:
    """Return a cylinder along z."""
    return f'<cylinder radius="{radius:.10g}" length="{length:.10g}"/>'


def capsule(radius: float, length: float) -> str:
    """Return a capsule along z; the length is the distance between the centres of its round ends."""
    return f'<capsule radius="{radius:.10g}" length="{length:.10g}"/>'


@dataclass
class Urdf:
    """Text of a robot.urdf to which links and joints are added."""

    name: str
    note: str
    parts: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def link(
        self,
        name: str,
        mass: float = 0.0,
        inertia: Sequence[float] = (0.0, 0.0, 0.0),
        center: Sequence[float] = (0.0, 0.0, 0.0),
        visuals: Sequence[tuple[str, str, Sequence[float], Sequence[float]]] = (),
        collisions: Sequence[tuple[str, Sequence[float], Sequence[float]]] = (),
    ) -> None:
        """Add a link; visuals are (colour, shape, position, rpy), collisions (shape, position, rpy)."""
        lines = []
        if mass > 0.0:
            moments = " ".join(
                f'{axis}="{value:.10g}"' for axis, value in zip(("ixx", "iyy", "izz"), inertia, strict=True)
            )
            lines += [
                "    <inertial>",
                f'      <origin xyz="{numbers(center)}"/>',
                f'      <mass value="{mass:.10g}"/>',
                f'      <inertia {moments} ixy="0" ixz="0" iyz="0"/>',
                "    </inertial>",
            ]
        for colour, shape, position, rpy in visuals:
            self.used.add(colour)
            lines += [
                "    <visual>",
                *_shape(shape, position, rpy),
                f'      <material name="{colour}"/>',
                "    </visual>",
            ]
        for shape, position, rpy in collisions:
            lines += ["    <collision>", *_shape(shape, position, rpy), "    </collision>"]
        if lines:
            self.parts += [f'  <link name="{name}">', *lines, "  </link>"]
        else:
            self.parts.append(f'  <link name="{name}"/>')

    def joint(
        self,
        child: str,
        position: Sequence[float],
        rpy: Sequence[float] = (0.0, 0.0, 0.0),
        parent: str = "base_link",
        kind: str = "fixed",
        axis: Sequence[float] = (1.0, 0.0, 0.0),
        limit: tuple[float, float, float] | None = None,
    ) -> None:
        """Add the parent joint of a link; a limit is (largest angle, effort, speed)."""
        name = child.removesuffix("_link") + "_joint"
        self.parts += [
            f'  <joint name="{name}" type="{kind}">',
            f'    <origin xyz="{numbers(position)}" rpy="{numbers(rpy)}"/>',
            f'    <parent link="{parent}"/>',
            f'    <child link="{child}"/>',
        ]
        if kind != "fixed":
            self.parts.append(f'    <axis xyz="{numbers(axis)}"/>')
        if limit is not None:
            high, effort, speed = limit
            self.parts.append(
                f'    <limit lower="{-high:.10g}" upper="{high:.10g}" effort="{effort:.10g}" velocity="{speed:.10g}"/>'
            )
        self.parts.append("  </joint>")

    def frame(self, name: str, position: Sequence[float], rpy: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Add a link without mass or shape, fixed to the base, as the frame of a sensor."""
        self.link(name)
        self.joint(name, position, rpy)

    def thruster(self, name: str, position: Sequence[float], rpy: Sequence[float], radius: float = 0.048) -> None:
        """Add a ducted thruster, fixed to the base, with thrust along its x axis."""
        duct = ("black", cylinder(radius, 0.045), (0.0, 0.0, 0.0), TOWARDS_X)
        pod = ("grey", capsule(0.016, 0.07), (-0.01, 0.0, 0.0), TOWARDS_X)
        self.link(name, visuals=[duct, pod])
        self.joint(name, position, rpy)

    def write(self) -> None:
        """Write src/skerry/vehicles/<name>/robot.urdf."""
        colours = [
            f'  <material name="{name}"><color rgba="{numbers(COLOURS[name])} 1"/></material>'
            for name in sorted(self.used)
        ]
        folder = VEHICLES / self.name
        folder.mkdir(exist_ok=True)
        head = ['<?xml version="1.0"?>', f"<!-- {self.note}", f"     Written by scripts/vehicles/{self.name}.py. -->"]
        body = [f'<robot name="{self.name}">', *colours, *self.parts, "</robot>"]
        (folder / "robot.urdf").write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")


def _shape(shape: str, position: Sequence[float], rpy: Sequence[float]) -> list[str]:
    return [f'      <origin xyz="{numbers(position)}" rpy="{numbers(rpy)}"/>', f"      <geometry>{shape}</geometry>"]
