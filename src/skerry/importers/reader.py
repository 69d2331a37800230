"""What readers of SDF and Stonefish files share: the file, its faults with their lines, notes, and numbers as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from xml.etree.ElementTree import Element

from skerry.core.errors import Fault, FileError
from skerry.core.frames import Pose, quaternion_to_rpy
from skerry.formats.xml_files import read_xml
from skerry.importers.draft import Draft
from skerry.importers.packages import find_packages, resolve

Three = tuple[float, float, float]


class Reader(ABC):
    """Makes a draft of an XML file; what is wrong with it is collected, to be told at once."""

    first_notes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, path: Path, packages: Sequence[Path]) -> None:
        self.path = path
        self.home = path.absolute().parent
        self.packages = find_packages(packages)
        self.root, self.lines = read_xml(path)
        self.faults: list[Fault] = []
        self.notes: list[str] = list(self.first_notes)

    @classmethod
    def draft(cls, path: Path, packages: Sequence[Path]) -> Draft:
        """The draft of a file."""
        try:
            return cls(path, packages).read()
        except ValueError as error:
            raise FileError(str(path), [Fault("", f"has a value that cannot be read: {error}")]) from None

    @abstractmethod
    def read(self) -> Draft:
        """Read the file; a number that cannot be read raises ValueError."""

    def fault(self, element: Element, problem: str, found: object = None, hint: str = "") -> None:
        """Note what is wrong with an element."""
        place = f'{element.tag} "{element.get("name")}"' if element.get("name") else element.tag
        self.faults.append(Fault(place, problem, found, self.lines[element], hint))

    def refuse_any(self) -> None:
        """Raise all faults that were found."""
        if self.faults:
            raise FileError(str(self.path), sorted(self.faults, key=lambda fault: fault.line or 0))

    def mesh(self, element: Element, name: str, in_packages: bool = False) -> Path | None:
        """The file of a mesh, also looked for by its bare name in packages if need be; a fault if there is none."""
        path, tried = resolve(name, self.home, self.packages)
        for folder in self.packages.values() if in_packages else ():
            tried.append(folder / name)
            path = path or (folder / name if (folder / name).is_file() else None)
        if path is None:
            hint = f"looked for {', '.join(map(str, tried))}; --packages names more places"
            self.fault(element, "there is no such mesh file", name, hint)
        return path


def place_of(pose: Pose) -> tuple[Three, Three]:
    """Position, and roll, pitch and yaw, as a URDF has them."""
    x, y, z = pose.position.tolist()
    roll, pitch, yaw = quaternion_to_rpy(pose.orientation).tolist()
    return (x, y, z), (roll, pitch, yaw)


def three(text: str | None, otherwise: str) -> Three:
    """Three numbers."""
    x, y, z = (float(word) for word in (text or otherwise).split())
    return x, y, z
