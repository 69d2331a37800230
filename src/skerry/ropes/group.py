"""Scratch memory of a group of ropes that are solved together: sections with one row per node."""

from __future__ import annotations

from typing import Any, Final

from skerry.core.kernels import floats, kernel, words

# A contact plane has normal (3), distance along the normal, and stiffness. A node has up to two planes.
PLANE: Final = 5
PLANES: Final = 2 * PLANE
# Data of a contact until its force is known: body, velocity of the body there (3), friction factor
TOUCH: Final = 5

# Offset of each section, in floats per node
X: Final = 0  # 3: position, m
GOAL: Final = 3  # 3: position after the step without its neighbours, m
START: Final = 6  # 3: position at the start of the step, m
TRIAL: Final = 9  # 3: position in the line search, m
CHANGE: Final = 12  # 3: step of the solver, m
GRADIENT: Final = 15  # 3: downhill gradient of the energy, N
MASS: Final = 18  # 6: mass and drag over the step squared, kg/s²
DIAGONAL: Final = 24  # 6: diagonal block of the Hessian
OFF_DIAGONAL: Final = 30  # 6: block of the Hessian towards the parent
CONTACTS: Final = 36  # PLANES: contact planes
TOUCHES: Final = CONTACTS + PLANES  # 2 TOUCH: data of the contacts
PARENT: Final = (
    TOUCHES + 2 * TOUCH
)  # integer: number of the parent node, always higher than the node's own; −1 for none
STIFF: Final = PARENT + 1  # stiffness of the edge to the parent, N/m
REST: Final = STIFF + 1  # rest length of the edge to the parent, m
LIMIT: Final = REST + 1  # largest tension of the edge to the parent, N
BEND: Final = LIMIT + 1  # bending stiffness at the node, N/m
TOUCHING: Final = BEND + 1  # integer: number of contact planes
FIXED: Final = TOUCHING + 1  # integer: 1 if the node moves to its goal whatever the forces
NODE_MASS: Final = FIXED + 1  # mass without added mass, kg
WIDTH: Final = NODE_MASS + 1


@kernel
def floats_at(memory: int, section: int, total: int, first: int, width: int, count: int) -> Any:
    """Return the floats of a section for `count` nodes from `first` on; the group has `total` nodes."""
    return floats(memory + 8 * (section * total + width * first), width * count)


@kernel
def integers_at(memory: int, section: int, total: int, first: int, count: int) -> Any:
    """Return the integers of a section for `count` nodes from `first` on; the group has `total` nodes."""
    return words(memory + 8 * (section * total + first), count)
