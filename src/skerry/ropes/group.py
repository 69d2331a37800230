"""The memory of a group of ropes that are solved together: per node, in sections of as many rows as there are nodes."""

from __future__ import annotations

from typing import Any, Final

from skerry.core.kernels import floats, kernel, words

# Planes that a node may touch: two rows of normal (3), distance of the plane along it, stiffness
PLANE: Final = 5
PLANES: Final = 2 * PLANE
# What is kept of a touch until its force is known: the body, its velocity there (3), the factor of friction
TOUCH: Final = 5

# Where each section begins, in numbers per node
X: Final = 0  # 3: position, m
GOAL: Final = 3  # 3: where it would go without its neighbours
BEGIN: Final = 6  # 3: where it was at the beginning of the step
TRIAL: Final = 9  # 3
CHANGE: Final = 12  # 3: a step of the solver
GRADIENT: Final = 15  # 3
MASS: Final = 18  # 6: over the step squared, kg/s²
DIAGONAL: Final = 24  # 6: of the Hessian
BESIDE: Final = 30  # 6: of the Hessian, towards the parent
CONTACTS: Final = 36  # PLANES
TOUCHES: Final = CONTACTS + PLANES  # two of TOUCH
PARENT: Final = TOUCHES + 2 * TOUCH  # a whole number, −1 for none; always higher than the node's own
STIFF: Final = PARENT + 1  # of the edge to the parent, N/m
REST: Final = STIFF + 1  # length of that edge, m
BEND: Final = REST + 1  # stiffness against bending at the node, N/m
TOUCHING: Final = BEND + 1  # how many planes, a whole number
FIXED: Final = TOUCHING + 1  # whether it goes to its goal whatever pulls, a whole number
HEAVY: Final = FIXED + 1  # kg
WIDTH: Final = HEAVY + 1


@kernel
def numbers_at(memory: int, section: int, total: int, first: int, width: int, count: int) -> Any:
    """A section's numbers of some nodes from `first` on, in the memory of a group of `total` nodes."""
    return floats(memory + 8 * (section * total + width * first), width * count)


@kernel
def whole_at(memory: int, section: int, total: int, first: int, count: int) -> Any:
    """The same for whole numbers."""
    return words(memory + 8 * (section * total + first), count)
