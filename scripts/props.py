"""Write the computed files of the props: the meshes of a cone and a rock, and the line with hanging algae."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skerry.core.meshes import Mesh, sphere
from skerry.formats.mesh_files import write_stl

TARGET = Path(__file__).parents[1] / "src" / "skerry" / "props"

LINE, SPACING = 20.0, 0.8  # length of the line and distance between plants, m
ALGAE = """\
# A line of 20 m along x with kelp that hangs from it every 0.8 m, 0.6 m to 1.5 m long; rope and kelp are fixed in
# place, and the kelp can be swum through. Origin in the middle of the rope. Lengths and colours vary by a formula;
# written by scripts/props.py.
description: Line of 20 m with hanging algae, fixed in place
category: algae
material: algae
colour: [0.46, 0.42, 0.13]
shapes:
  rope:
    geometry: {kind: cylinder, radius: 0.012, length: 20}
    pitch_deg: 90
    material: rope
    colour: [0.85, 0.55, 0.15]
"""


def cone(segments: int = 32) -> Mesh:
    """Return a cone of radius 1 from z = 0 to its tip at z = 1."""
    angle = np.arange(segments) * (2 * np.pi / segments)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(segments)], axis=1)
    this = np.arange(segments) + 2
    after = np.roll(this, -1)
    tip = np.stack([this, after, np.ones_like(this)], axis=1)
    base = np.stack([after, this, np.zeros_like(this)], axis=1)
    return Mesh(np.concatenate([[[0, 0, 0], [0, 0, 1]], ring]), np.concatenate([tip, base]).astype(np.int32))


def rock() -> Mesh:
    """Return a sphere of radius 1 with dents and edges."""
    ball = sphere(1.0, 18)
    x, y, z = ball.vertices.T
    bumps = 0.12 * np.sin(3.1 * x + 1.3) * np.cos(2.7 * y - 0.4) + 0.09 * np.sin(5.3 * z + 2.1 * x)
    facets = 0.1 * np.abs(np.sin(4.1 * y + 1.7 * z)) + 0.05 * np.cos(9.0 * x - 4.0 * y)
    return Mesh(ball.vertices * (0.92 + bumps + facets)[:, None], ball.faces)


def algae() -> str:
    """Return the YAML text of the line; every plant has two blades, the lower one thinner."""
    lines = [ALGAE]
    for number in range(round(LINE / SPACING)):
        x = -0.5 * LINE + SPACING * (number + 0.5)
        length = 1.05 + 0.3 * np.sin(2.4 * number) + 0.15 * np.sin(5.1 * number + 1.0)
        shade = 0.9 + 0.25 * np.sin(1.7 * number)
        colour = ", ".join(f"{shade * value:.3f}" for value in (0.46, 0.42, 0.13))
        for part, (top, share, size) in {"a": (0.0, 0.6, (0.16, 0.03)), "b": (0.6, 0.4, (0.1, 0.02))}.items():
            height = share * length
            box = f"{{kind: box, size: [{size[0]}, {size[1]}, {height:.3f}]}}"
            turn = (37 * number + (20 if part == "b" else 0)) % 180
            position = f"[{x:.2f}, 0, {-top * length - 0.5 * height:.3f}]"
            blade = f"geometry: {box}, position: {position}, yaw_deg: {turn}, colour: [{colour}], collides: false"
            lines.append(f"  plant_{number + 1}{part}: {{{blade}}}\n")
    return "".join(lines)


def main() -> None:
    """Write the files."""
    (TARGET / "meshes").mkdir(parents=True, exist_ok=True)
    write_stl(TARGET / "meshes" / "cone.stl", cone())
    write_stl(TARGET / "meshes" / "rock.stl", rock())
    (TARGET / "algae_line.yaml").write_text(algae(), encoding="utf-8")


if __name__ == "__main__":
    main()
