"""Interface of a ray tracer: scenes of triangles, scenes of moving instances, and native functions for packets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.rays.bvh import Bvh, build_bvh
from skerry.rays.packets import ARGUMENTS, CONTEXT_SIZE, INTERSECT, OCCLUDED, SCENE, WIDTH


@dataclass(eq=False)
class MeshScene:
    """Triangles of one rigid body, prepared for tracing."""

    handle: int
    vertices: NDArray[np.float32] = field(repr=False)  # kept alive, because the tracer may refer to them
    faces: NDArray[np.uint32] = field(repr=False)

    @cached_property
    def bvh(self) -> Bvh:
        """Skerry's own bounding volume hierarchy of the triangles, built on first use."""
        return build_bvh(self.vertices, self.faces)


@dataclass(eq=False)
class TopScene:
    """Instances of mesh scenes, each with its transform in the world."""

    handle: int
    geometries: NDArray[np.int64]  # handles of the instances
    children: tuple[MeshScene, ...] = field(repr=False)
    keep: tuple[Any, ...] = field(default=(), repr=False)  # memory that the scene refers to, kept alive


class Tracer(ABC):
    """Ray tracer: addresses of its native functions, and methods that build its scenes.

    Args:
        width: Rays in a packet.
        intersect: Address of the function that finds the nearest hit of each ray.
        occluded: Address of the function that finds whether each ray hits anything.
        arguments: Address of the last argument of both functions, or 0.
        set_transform: Address of the function that sets the transform of an instance.
        commit_geometry: Address of the function that finishes a change of an instance.
        commit_scene: Address of the function that finishes changes of a scene.
    """

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
        self.move_functions = np.array([set_transform, commit_geometry, commit_scene], np.int64)
        self._context = np.zeros(CONTEXT_SIZE, np.int64)
        self._context[[INTERSECT, OCCLUDED, ARGUMENTS, WIDTH]] = intersect, occluded, arguments, width

    def context(self, scene: TopScene) -> NDArray[np.int64]:
        """Return a new trace context for this scene; the fields of its bodies and ropes are still 0."""
        context = self._context.copy()
        context[SCENE] = scene.handle
        return context

    @abstractmethod
    def mesh_scene(self, vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> MeshScene:
        """Build a scene of triangles."""

    @abstractmethod
    def top_scene(self, children: Sequence[MeshScene], masks: Sequence[int]) -> TopScene:
        """Build a scene of instances at the origin. A ray can hit an instance if their masks share a bit."""
