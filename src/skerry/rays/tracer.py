"""What a tracer is: scenes of triangles, scenes of moving instances of them, and native functions that send packets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.rays.bvh import Tree, build_tree
from skerry.rays.packets import ARGUMENTS, INTERSECT, OCCLUDED, SCENE, WIDTH, WORDS


@dataclass(eq=False)
class MeshScene:
    """Triangles of one rigid body, ready to be traced."""

    handle: int
    vertices: NDArray[np.float32] = field(repr=False)  # kept, since the tracer may refer to them
    faces: NDArray[np.uint32] = field(repr=False)

    @cached_property
    def tree(self) -> Tree:
        """The triangles under Skerry's own tree, built when it is first needed."""
        return build_tree(self.vertices, self.faces)


@dataclass(eq=False)
class TopScene:
    """Instances of mesh scenes, each with its place in the world."""

    handle: int
    geometries: NDArray[np.int64]  # handles of the instances
    children: tuple[MeshScene, ...] = field(repr=False)
    keep: tuple[Any, ...] = field(default=(), repr=False)  # the memory that it refers to


class Tracer(ABC):
    """A way to trace packets: the addresses of its native functions, and how to build scenes."""

    name: str

    def __init__(
        self,
        width: int,
        intersect: int,
        occluded: int,
        arguments: int,
        set_transform: int,
        commit_geometry: int,
        commit_scene: int,
    ) -> None:
        self.width = width
        self.moving = np.array([set_transform, commit_geometry, commit_scene], np.int64)
        self._words = np.zeros(WORDS, np.int64)
        self._words[[INTERSECT, OCCLUDED, ARGUMENTS, WIDTH]] = intersect, occluded, arguments, width

    def words(self, scene: TopScene) -> NDArray[np.int64]:
        """What kernels need to trace this scene."""
        words = self._words.copy()
        words[SCENE] = scene.handle
        return words

    @abstractmethod
    def mesh_scene(self, vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> MeshScene:
        """Build a scene of triangles."""

    @abstractmethod
    def top_scene(self, children: Sequence[MeshScene], masks: Sequence[int]) -> TopScene:
        """Build a scene of instances, all at the origin; a ray sees one if their masks share a bit."""
