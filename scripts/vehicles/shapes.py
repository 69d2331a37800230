"""Links, joints and coloured primitives of a vehicle's robot.urdf, written down in short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

VEHICLES = Path(__file__).parents[2] / "src" / "skerry" / "vehicles"
TOWARDS_X = (0.0, 1.5707963267948966, 0.0)  # turns a cylinder or capsule, which lies along z, along x
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
    """As URDF writes them."""
    return " ".join(f"{value:.10g}" for value in values)


def box(x: float, y: float, z: float) -> str:
    """Full lengths, m."""
    return f'<box size="{numbers((x, y, z))}"/>'


def sphere(radius: float) -> str:
    """About its middle."""
    return f'<sphere radius="{radius:.10g}"/>'


def cylinder(radius: float, length: float) -> str:
    """Along z."""
    return f'<cylinder radius="{radius:.10g}" length="{length:.10g}"/>'


def capsule(radius: float, length: float) -> str:
    """Along z; the length is that between the middles of its round ends."""
    return f'<capsule radius="{radius:.10g}" length="{length:.10g}"/>'


@dataclass
class Urdf:
    """A robot.urdf that grows link by link."""

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
        """A link: visuals are (colour, shape, place, turn), collisions (shape, place, turn)."""
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
        for colour, shape, place, turn in visuals:
            self.used.add(colour)
            lines += [
                "    <visual>",
                *_shape(shape, place, turn),
                f'      <material name="{colour}"/>',
                "    </visual>",
            ]
        for shape, place, turn in collisions:
            lines += ["    <collision>", *_shape(shape, place, turn), "    </collision>"]
        if lines:
            self.parts += [f'  <link name="{name}">', *lines, "  </link>"]
        else:
            self.parts.append(f'  <link name="{name}"/>')

    def joint(
        self,
        child: str,
        place: Sequence[float],
        turn: Sequence[float] = (0.0, 0.0, 0.0),
        parent: str = "base_link",
        kind: str = "fixed",
        axis: Sequence[float] = (1.0, 0.0, 0.0),
        limit: tuple[float, float, float] | None = None,
    ) -> None:
        """The joint above a link; a limit is (largest angle, effort, speed)."""
        name = child.removesuffix("_link") + "_joint"
        self.parts += [
            f'  <joint name="{name}" type="{kind}">',
            f'    <origin xyz="{numbers(place)}" rpy="{numbers(turn)}"/>',
            f'    <parent link="{parent}"/>',
            f'    <child link="{child}"/>',
        ]
        if kind != "fixed":
            self.parts.append(f'    <axis xyz="{numbers(axis)}"/>')
        if limit is not None:
            most, effort, speed = limit
            self.parts.append(
                f'    <limit lower="{-most:.10g}" upper="{most:.10g}" effort="{effort:.10g}" velocity="{speed:.10g}"/>'
            )
        self.parts.append("  </joint>")

    def frame(self, name: str, place: Sequence[float], turn: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """A link without mass or shape, fixed to the base: where a sensor sits."""
        self.link(name)
        self.joint(name, place, turn)

    def thruster(self, name: str, place: Sequence[float], turn: Sequence[float], radius: float = 0.048) -> None:
        """A ducted thruster, fixed to the base, that pushes along its own x."""
        duct = ("black", cylinder(radius, 0.045), (0.0, 0.0, 0.0), TOWARDS_X)
        pod = ("grey", capsule(0.016, 0.07), (-0.01, 0.0, 0.0), TOWARDS_X)
        self.link(name, visuals=[duct, pod])
        self.joint(name, place, turn)

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


def _shape(shape: str, place: Sequence[float], turn: Sequence[float]) -> list[str]:
    return [f'      <origin xyz="{numbers(place)}" rpy="{numbers(turn)}"/>', f"      <geometry>{shape}</geometry>"]
