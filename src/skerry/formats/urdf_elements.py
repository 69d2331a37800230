"""Strict reading of URDF elements: tags, attributes, names and numbers, with the location of every fault."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from math import inf, isfinite, nan
from pathlib import Path
from typing import NamedTuple, get_args
from xml.etree.ElementTree import Element

from skerry.core.config import Vector3
from skerry.core.errors import Fault, FileError
from skerry.formats.urdf import ORIGIN, ShapeKind


class NumberRule(NamedTuple):
    """Condition for the numbers of an attribute: its description, its test, and a hint for the error message."""

    description: str
    holds: Callable[[float], bool]
    hint: str = ""


FINITE = NumberRule("finite number", isfinite)
POSITIVE = NumberRule("number above 0", lambda value: 0 < value < inf)
MASS = NumberRule(POSITIVE.description, POSITIVE.holds, "a link without mass has no <inertial> at all")
NOT_NEGATIVE = NumberRule("number of at least 0", lambda value: 0 <= value < inf)
UPPER_LIMIT = NumberRule("number of at least 0, or inf", lambda value: value >= 0)
NOT_ZERO = NumberRule("number other than 0", lambda value: isfinite(value) and value != 0)
FRACTION = NumberRule("number from 0 to 1", lambda value: 0 <= value <= 1)

# Known attributes and children of each element. Other names are extensions and ignored, unless they look misspelt.
KNOWN_NAMES: dict[str, tuple[str, ...]] = {
    "robot": ("name", "link", "joint", "material", "gazebo", "transmission", "sensor", "version"),
    "link": ("name", "inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("name", "origin", "geometry", "material"),
    "collision": ("name", "origin", "geometry"),
    "geometry": get_args(ShapeKind),
    "origin": ("xyz", "rpy"),
    "mesh": ("filename", "scale"),
    "material": ("name", "color", "texture"),
    "joint": ("name", "type", "origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}


class UrdfElements:
    """Elements of one file and their faults. An invalid number is replaced by NaN, so that reading continues."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.faults: list[Fault] = []
        self.lines: dict[Element, int] = {}
        self.locations: dict[Element, str] = {}

    def check_names(self, element: Element) -> None:
        """Record the location of each element below, and report names that look like misspelt known names."""
        known = KNOWN_NAMES.get(element.tag, ())
        for name in element.attrib:
            self.check_name(element, name, known)
        for child in element:
            if element.tag == "robot":
                self.locations[child] = f'{child.tag} "{child.get("name", "")}"'
            else:
                alike = [other for other in element if other.tag == child.tag]
                number = f" {alike.index(child) + 1}" if len(alike) > 1 else ""
                self.locations[child] = f"{self.locations[element]} / {child.tag}{number}"
            self.check_name(child, child.tag, known)
            if child.tag in known:
                self.check_names(child)

    def check_name(self, element: Element, name: str, known: tuple[str, ...]) -> None:
        near = [] if name in known else get_close_matches(name, known, n=1, cutoff=0.8)
        if near:
            self.fault(element, f"unknown name {name!r}", hint=f"did you mean {near[0]!r}?")

    def fault(self, element: Element, problem: str, attribute: str = "", found: object = None, hint: str = "") -> None:
        location = self.locations[element] + (f" / {attribute}" if attribute else "")
        self.faults.append(Fault(location, problem, found, self.lines[element], hint))

    def raise_faults(self) -> None:
        if self.faults:
            raise FileError(str(self.path), sorted(self.faults, key=lambda fault: fault.line or 0))

    def name(self, element: Element) -> str:
        name = element.get("name", "")
        if not name.strip():
            self.fault(element, "has no name")
        elif "/" in name and element.tag != "material":
            self.fault(element, "a name must not contain '/'", found=name)
        return name

    def named(self, root: Element, tag: str) -> dict[str, Element]:
        """Return the child elements with a tag, by name."""
        found: dict[str, Element] = {}
        for element in root.iterfind(tag):
            name = self.name(element)
            if name in found:
                self.fault(element, f"given twice, first on line {self.lines[found[name]]}")
            elif name:
                found[name] = element
        return found

    def only(self, element: Element, tag: str) -> Element | None:
        found = element.findall(tag)
        if len(found) > 1:
            self.fault(found[1], f"given twice, first on line {self.lines[found[0]]}")
        return found[0] if found else None

    def required(self, element: Element, tag: str) -> Element | None:
        found = self.only(element, tag)
        if found is None:
            self.fault(element, "is missing", tag)
        return found

    def origin(self, element: Element) -> tuple[Vector3, Vector3]:
        origin = self.only(element, "origin")
        if origin is None:
            return ORIGIN, ORIGIN
        return self.vector(origin, "xyz", FINITE, ORIGIN), self.vector(origin, "rpy", FINITE, ORIGIN)

    def vector(
        self, element: Element, attribute: str, rule: NumberRule = FINITE, default: Vector3 | None = None
    ) -> Vector3:
        x, y, z = self.numbers(element, attribute, 3, rule, default)
        return x, y, z

    def number(
        self, element: Element, attribute: str, rule: NumberRule = FINITE, default: float | None = None
    ) -> float:
        return self.numbers(element, attribute, 1, rule, None if default is None else (default,))[0]

    def numbers(
        self,
        element: Element,
        attribute: str,
        count: int,
        rule: NumberRule,
        default: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:
        """Return the numbers of an attribute, or NaN for all of them after reporting a fault."""
        text = element.get(attribute)
        if text is None and default is not None:
            return default
        if text is None:
            self.fault(element, "is missing", attribute)
            return (nan,) * count
        try:
            values = tuple(map(float, text.split()))
        except ValueError:
            values = ()
        if len(values) == count and all(map(rule.holds, values)):
            return values
        expected = f"a {rule.description}" if count == 1 else f"{count} {rule.description.replace('number', 'numbers')}"
        self.fault(element, f"must be {expected}", attribute, text, rule.hint)
        return (nan,) * count
