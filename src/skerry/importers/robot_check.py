"""Check that a robot from another format follows the rules of URDF: names, tree, inertias."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from skerry.core.errors import Fault, FileError
from skerry.formats.urdf import UrdfRobot
from skerry.formats.urdf_files import read_urdf
from skerry.importers.urdf_text import robot_to_urdf


def check_robot(robot: UrdfRobot, source: Path) -> UrdfRobot:
    """Return the robot with its root; raise a `FileError` of the source file with all faults."""
    shapes = [shape for link in robot.links.values() for shape in (*link.visuals, *link.collisions)]
    meshes = {shape.mesh: str(shape.mesh.absolute()) for shape in shapes if shape.mesh is not None}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(robot_to_urdf(robot, meshes), encoding="utf-8")
        try:
            return replace(read_urdf(path), links=robot.links)
        except FileError as error:
            # The line numbers are those of the temporary file and are removed; the locations name links and joints.
            faults = [Fault(fault.location, fault.problem, fault.found, None, fault.hint) for fault in error.faults]
            raise FileError(str(source), faults) from None
