"""Elements of a URDF as text, for the scripts that write vehicles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

VEHICLES = Path(__file__).parents[2] / "src" / "skerry" / "vehicles"


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)


def inertial(mass: float, inertia: Sequence[float], center: Sequence[float] = (0, 0, 0)) -> str:
    """Return an inertial; `inertia` is ixx, iyy, izz about the centre of mass."""
    names = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), (*inertia, 0, 0, 0), strict=True)
    values = " ".join(f'{name}="{value:.6g}"' for name, value in names)
    return f"""    <inertial>
      <origin xyz="{_numbers(center)}"/>
      <mass value="{mass:.6g}"/>
      <inertia {values}/>
    </inertial>
"""


def shape(
    use: str, geometry: str, at: Sequence[float], rpy: Sequence[float] = (0, 0, 0), material: str | None = None
) -> str:
    """Return a `visual` or `collision` element."""
    named = f'\n      <material name="{material}"/>' if material else ""
    return f"""    <{use}>
      <origin xyz="{_numbers(at)}" rpy="{_numbers(rpy)}"/>
      <geometry>{geometry}</geometry>{named}
    </{use}>
"""


def box(size: Sequence[float]) -> str:
    """Return a box with these lengths, m."""
    return f'<box size="{_numbers(size)}"/>'


def cylinder(radius: float, length: float) -> str:
    """Return a cylinder along z."""
    return f'<cylinder radius="{radius:.6g}" length="{length:.6g}"/>'


def capsule(radius: float, length: float) -> str:
    """Return a capsule along z; the length excludes the round ends."""
    return f'<capsule radius="{radius:.6g}" length="{length:.6g}"/>'


def sphere(radius: float) -> str:
    """Return a sphere."""
    return f'<sphere radius="{radius:.6g}"/>'


def link(name: str, *parts: str) -> str:
    """Return a link with these elements."""
    return f'  <link name="{name}">\n{"".join(parts)}  </link>\n' if parts else f'  <link name="{name}"/>\n'


def joint(
    name: str,
    kind: str,
    child: str,
    at: Sequence[float],
    rpy: Sequence[float] = (0, 0, 0),
    axis: Sequence[float] | None = None,
    limit: str = "",
    parent: str = "base_link",
) -> str:
    """Return a joint."""
    moving = f'    <axis xyz="{_numbers(axis)}"/>\n' if axis else ""
    limits = f"    <limit {limit}/>\n" if limit else ""
    return f"""  <joint name="{name}" type="{kind}">
    <origin xyz="{_numbers(at)}" rpy="{_numbers(rpy)}"/>
    <parent link="{parent}"/>
    <child link="{child}"/>
{moving}{limits}  </joint>
"""


def fixed(child: str, at: Sequence[float], rpy: Sequence[float] = (0, 0, 0)) -> str:
    """Return an empty link that is fixed to the base, as the frame of a sensor."""
    return link(child) + joint(child.replace("_link", "_joint"), "fixed", child, at, rpy)


def write(name: str, comment: str, materials: dict[str, str], *parts: str) -> None:
    """Write a vehicle's robot.urdf."""
    colours = "".join(
        f'  <material name="{name}"><color rgba="{rgba}"/></material>\n' for name, rgba in materials.items()
    )
    text = f'<?xml version="1.0"?>\n<!-- {comment} -->\n<robot name="{name}">\n{colours}{"".join(parts)}</robot>\n'
    (VEHICLES / name / "robot.urdf").write_text(text, encoding="utf-8")
