"""Checks a robot from another format as a URDF would be: names, tree, inertias; faults tell of its own file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from skerry.core.errors import Fault, FileError
from skerry.formats.urdf import UrdfRobot
from skerry.formats.urdf_files import read_urdf
from skerry.importers.urdf_text import urdf_of


def checked(robot: UrdfRobot, source: Path) -> UrdfRobot:
    """The robot with its root found; raise `FileError` with all that is wrong with it."""
    shapes = [shape for link in robot.links.values() for shape in (*link.visuals, *link.collisions)]
    meshes = {shape.mesh: str(shape.mesh.absolute()) for shape in shapes if shape.mesh is not None}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf_of(robot, meshes), encoding="utf-8")
        try:
            return replace(read_urdf(path), links=robot.links)
        except FileError as error:
            # Lines are those of a file that nobody will see; places name links and joints.
            faults = [Fault(fault.location, fault.problem, fault.found, None, fault.hint) for fault in error.faults]
            raise FileError(str(source), faults) from None
