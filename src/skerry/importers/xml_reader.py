"""Base class of the readers of SDF and Stonefish files: XML with line numbers, faults, notes, meshes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element

from skerry.core.errors import Fault, FileError
from skerry.core.frames import Pose, quaternion_to_rpy
from skerry.formats.xml_files import read_xml
from skerry.importers.package_search import find_packages, resolve_file
from skerry.importers.vehicle_draft import VehicleDraft

Triple = tuple[float, float, float]


class XmlVehicleReader(ABC):
    """Reader that makes a draft of an XML file; faults are collected and raised together."""

    first_notes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        self.path = path
        self.home = path.absolute().parent
        self.packages = find_packages(packages)
        self.root, self.lines = read_xml(path)
        self.faults: list[Fault] = []
        self.notes: list[str] = list(self.first_notes)

    @classmethod
    def read_file(cls, path: Path, packages: Sequence[Path]) -> VehicleDraft:
        """Return the draft of a file; raise a `FileError` with all faults."""
        try:
            return cls(path, packages).read()
        except ValueError as error:
            raise FileError(str(path), [Fault("", f"contains an invalid value: {error}")]) from None

    @abstractmethod
    def read(self) -> VehicleDraft:
        """Return the draft of the file; an invalid number raises a `ValueError`."""

    def add_fault(self, element: Element, problem: str, found: object = None, hint: str = "") -> None:
        """Add a fault of an element."""
        location = f'{element.tag} "{element.get("name")}"' if element.get("name") else element.tag
        self.faults.append(Fault(location, problem, found, self.lines[element], hint))

    def raise_faults(self) -> None:
        """Raise a `FileError` if there are faults."""
        if self.faults:
            raise FileError(str(self.path), sorted(self.faults, key=lambda fault: fault.line or 0))

    def find_mesh(self, element: Element, name: str, in_packages: bool = False) -> Path | None:
        """Return the file of a mesh, or None with a fault.

        Args:
            element: Element that names the mesh.
            name: URI or path of the mesh.
            in_packages: Whether to search all packages for the path too.
        """
        path, tried = resolve_file(name, self.home, self.packages)
        for folder in self.packages.values() if in_packages else ():
            tried.append(folder / name)
            path = path or (folder / name if (folder / name).is_file() else None)
        if path is None:
            hint = f"tried {', '.join(map(str, tried))}; --packages adds folders to search"
            self.add_fault(element, "there is no such mesh file", name, hint)
        return path


def position_and_rpy(pose: Pose) -> tuple[Triple, Triple]:
    """Return position and roll, pitch, yaw of a pose, as URDF uses them."""
    x, y, z = pose.position.tolist()
    roll, pitch, yaw = quaternion_to_rpy(pose.orientation).tolist()
    return (x, y, z), (roll, pitch, yaw)


def parse_triple(text: str | None, default: str) -> Triple:
    """Parse three numbers; None gives the default."""
    x, y, z = (float(number) for number in (text or default).split())
    return x, y, z
