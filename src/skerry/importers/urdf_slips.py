"""What real URDFs get wrong and other programs forgive: mended before the file is read strictly, and told."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np

WORDS: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ROUNDING: Final = 1e-9  # of a moment, so that what is written is sound after all
_OPTIONAL = re.compile(r"\$\(optenv \w+ ([^()]*)\)")


def mend(root: Element, notes: list[str]) -> None:
    """Mend the elements of a robot; each sort of slip is one note."""
    _fill_in(root, notes)
    _drop_massless(root, notes)
    _free_joints(root, notes)
    _balance(root, notes)


def _fill_in(root: Element, notes: list[str]) -> None:
    """What xacro would take from the environment has its default."""
    places = []
    for child in root:
        for element in child.iter():
            for word, value in element.attrib.items():
                filled = _OPTIONAL.sub(lambda found: found[1].strip(), value)
                if filled != value:
                    element.set(word, filled)
                    places.append(str(child.get("name")))
    _note(notes, places, "left open by `$(optenv …)`: its default")


def _drop_massless(root: Element, notes: list[str]) -> None:
    """Frames without a body are often written with a mass of 0."""
    places = []
    for link in root.findall("link"):
        inertial = link.find("inertial")
        mass = None if inertial is None else inertial.find("mass")
        if inertial is not None and mass is not None and _is_zero(mass.get("value")):
            link.remove(inertial)
            places.append(str(link.get("name")))
    _note(notes, places, "a mass of 0 is taken for no <inertial> at all")


def _free_joints(root: Element, notes: list[str]) -> None:
    """A revolute joint whose limits are not given could not move by the letter of URDF; other programs let it turn."""
    places = []
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        if joint.get("type") == "revolute" and (limit is None or not {"lower", "upper"} & limit.attrib.keys()):
            joint.set("type", "continuous")
            places.append(str(joint.get("name")))
    _note(notes, places, "a revolute joint without limits; it turns freely [guess]")


def _balance(root: Element, notes: list[str]) -> None:
    """Of the moments of a body's inertia none exceeds the sum of the other two; those of a drawing or a fit may."""
    places = []
    for link in root.findall("link"):
        inertia = link.find("inertial/inertia")
        try:
            xx, xy, xz, yy, yz, zz = (float((inertia.get(word) if inertia is not None else "") or "") for word in WORDS)
        except ValueError:
            continue  # the reader says what is wrong with it
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if inertia is None or not np.isfinite(matrix).all():
            continue
        moments, axes = np.linalg.eigh(matrix)
        if 0.0 < moments[0] < moments[2] - moments[1]:
            moments[0] = (moments[2] - moments[1]) * (1.0 + ROUNDING)
            mended = (axes * moments) @ axes.T
            for word, row, column in zip(WORDS, *np.triu_indices(3), strict=True):
                inertia.set(word, repr(float(mended[row, column])))
            places.append(str(link.get("name")))
    _note(notes, places, "no body has such moments of inertia; the smallest is raised until one could have [guess]")


def _is_zero(text: str | None) -> bool:
    try:
        return text is not None and float(text) == 0.0
    except ValueError:
        return False


def _note(notes: list[str], places: list[str], what: str) -> None:
    if places:
        notes.append(f"{', '.join(dict.fromkeys(places))}: {what}")
