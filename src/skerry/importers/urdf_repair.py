"""Repair of common faults of real URDF files that other programs tolerate; each repair adds a note."""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np

INERTIA_KEYS: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ROUNDING: Final = 1e-9
"""Relative excess of a repaired moment of inertia, so that it stays valid after rounding."""
_OPTIONAL = re.compile(r"\$\(optenv \w+ ([^()]*)\)")


def repair_urdf(root: Element, notes: list[str]) -> None:
    """Repair the elements of a robot; each kind of repair adds one note."""
    _fill_placeholders(root, notes)
    _drop_massless(root, notes)
    _free_joints(root, notes)
    _repair_inertias(root, notes)


def _fill_placeholders(root: Element, notes: list[str]) -> None:
    """Replace `$(optenv NAME default)` of xacro by its default."""
    names = []
    for child in root:
        for element in child.iter():
            for key, value in element.attrib.items():
                filled = _OPTIONAL.sub(lambda found: found[1].strip(), value)
                if filled != value:
                    element.set(key, filled)
                    names.append(str(child.get("name")))
    _note(notes, names, "the default of `$(optenv …)` is used")


def _drop_massless(root: Element, notes: list[str]) -> None:
    """Remove inertials with a mass of 0, which many files have for frames without a body."""
    names = []
    for link in root.findall("link"):
        inertial = link.find("inertial")
        mass = None if inertial is None else inertial.find("mass")
        if inertial is not None and mass is not None and _is_zero(mass.get("value")):
            link.remove(inertial)
            names.append(str(link.get("name")))
    _note(notes, names, "a mass of 0 is treated as no <inertial>")


def _free_joints(root: Element, notes: list[str]) -> None:
    """Make revolute joints without limits continuous, as other programs do; URDF's defaults would block them."""
    names = []
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        if joint.get("type") == "revolute" and (limit is None or not {"lower", "upper"} & limit.attrib.keys()):
            joint.set("type", "continuous")
            names.append(str(joint.get("name")))
    _note(notes, names, "a revolute joint without limits turns freely [guess]")


def _repair_inertias(root: Element, notes: list[str]) -> None:
    """Raise the smallest moment of inertia where the largest exceeds the sum of the others, which is impossible."""
    names = []
    for link in root.findall("link"):
        inertia = link.find("inertial/inertia")
        try:
            xx, xy, xz, yy, yz, zz = (
                float((inertia.get(key) if inertia is not None else "") or "") for key in INERTIA_KEYS
            )
        except ValueError:
            continue  # the reader reports this fault
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if inertia is None or not np.isfinite(matrix).all():
            continue
        moments, axes = np.linalg.eigh(matrix)
        if 0.0 < moments[0] < moments[2] - moments[1]:
            moments[0] = (moments[2] - moments[1]) * (1.0 + ROUNDING)
            repaired = (axes * moments) @ axes.T
            for key, row, column in zip(INERTIA_KEYS, *np.triu_indices(3), strict=True):
                inertia.set(key, repr(float(repaired[row, column])))
            names.append(str(link.get("name")))
    _note(notes, names, "no body can have its moments of inertia; the smallest is raised to a possible value [guess]")


def _is_zero(text: str | None) -> bool:
    try:
        return text is not None and float(text) == 0.0
    except ValueError:
        return False


def _note(notes: list[str], names: list[str], what: str) -> None:
    if names:
        notes.append(f"{', '.join(dict.fromkeys(names))}: {what}")
