"""Geometry of a world for rays: visuals of robots and objects, the ground, and ropes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skerry.core import meshes
from skerry.core.frames import Pose, quaternion_to_matrix, rpy_to_quaternion
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape
from skerry.physics.model import Model
from skerry.rays import Frame, RayBody, RayCaster, RayRope, RayScene, load_tracer, robot_bit
from skerry.rays.scene import OBJECT_BIT
from skerry.scenario.loading import LoadedScenario
from skerry.terrain import Terrain
from skerry.terrain.materials import Colour, Material, NamedMaterial, find_material


class RaySceneBuilder:
    """Ray scene of a world, built at the first use, with frames that follow the bodies.

    Args:
        bodies: Makes the bodies of the scene.
        motions: Live motions of the bodies, (bodies, 13).
        ropes: Makes the ropes of the scene.
        userdata: Live userdata of the engine.
        state_of_ropes: Slice of userdata with the state of the ropes.
    """

    def __init__(
        self,
        bodies: Callable[[], list[RayBody]],
        motions: NDArray[np.float64],
        ropes: Callable[[], list[RayRope]],
        userdata: NDArray[np.float64],
        state_of_ropes: slice,
    ) -> None:
        self._bodies = bodies
        self._motions = motions
        self._ropes = ropes
        self.state_of_ropes = state_of_ropes
        self._state = userdata[state_of_ropes]
        self._frame: Frame | None = None
        self._frame_state = b""  # motions and ropes of the frame

    @cached_property
    def scene(self) -> RayScene:
        """Scene with the geometry of all bodies and ropes."""
        return RayScene(self._bodies(), load_tracer(), self._ropes())

    def view(self, own_mask_bit: int | None = None) -> RayCaster:
        """Return the world as rays see it now, without the robot of `own_mask_bit`.

        The view is valid until the world advances; use `hold_frame` to keep its frame longer.
        """
        motion, state = self._motions, self._state
        now = motion.tobytes() + state.tobytes()
        if self._frame is not None and now != self._frame_state and self._frame.users > 1:
            self.scene.release(self._frame)
            self._frame = None
        if self._frame is None:
            self._frame = self.scene.frame(motion, state)
        elif now != self._frame_state:
            self.scene.move(self._frame, motion, state)
        self._frame_state = now
        return RayCaster(self.scene, self._frame, motion, own_mask_bit)

    def hold_frame(self) -> Frame:
        """Return the frame of the present body poses; the caller must release it.

        All users of the same state share one frame, because moving all bodies costs as much as some hundred rays.
        """
        return self.scene.hold(self.view().frame)


def bodies_for_rays(loaded: LoadedScenario, model: Model, terrain: Terrain | None) -> list[RayBody]:
    """Return the ground, the objects and the robots, in the order of the scenario."""
    scenario = loaded.scenario
    own = scenario.materials
    found = []
    if terrain is not None:
        # Material names of a mesh file are used only if they are known here.
        ground = scenario.terrain.material if scenario.terrain is not None else None
        materials = tuple(find_material(name, own, instead=ground) for name in terrain.materials)
        found.append(RayBody("terrain", "", terrain.triangles(), materials))
    for name, config in scenario.objects.items():
        visuals = [
            (Pose.identity(), shape, find_material(shape.material, own, _colour(shape)))
            for shape in config.robot(name).links["body"].visuals
        ]
        category = config.category or name
        found.append(_ray_body(f"objects/{name}", name, visuals, model.roots[name], OBJECT_BIT, category))
    for number, name in enumerate(scenario.robots):
        bits = robot_bit(number)
        category = Path(scenario.robots[name].vehicle).name
        carriers = {handle.body: link for link, handle in reversed(model.links[name].items())}
        for row, visuals in _by_body(loaded, model, name, own).items():
            found.append(_ray_body(f"{name}/{carriers[row]}", name, visuals, row, bits, category))
    return found


Visual = tuple[Pose, Shape, NamedMaterial]


def _by_body(loaded: LoadedScenario, model: Model, name: str, own: Mapping[str, Material]) -> dict[int, list[Visual]]:
    """Return the visuals of a robot by the index of the body that carries them."""
    found: dict[int, list[Visual]] = {}
    for link in loaded.vehicles[name].robot.links.values():
        handle = model.links[name][link.name]
        for shape in link.visuals:
            material = _hull_material(shape, own)
            found.setdefault(handle.body, []).append((handle.offset, shape, material))
    return found


def _hull_material(shape: Shape, own: Mapping[str, Material]) -> NamedMaterial:
    """Return the material that the URDF names, if it is known; otherwise that of a painted hull."""
    return find_material(shape.material, own, _colour(shape), instead="hull")


def _colour(shape: Shape) -> Colour | None:
    return None if shape.colour is None else shape.colour[:3]


def _ray_body(name: str, owner: str, visuals: list[Visual], row: int, bit: int, category: str) -> RayBody:
    """Merge the shapes to one mesh in the frame of the body; each face has the index of its material."""
    surfaces = list(dict.fromkeys((material, shape.glow) for _, shape, material in visuals))
    parts = []
    numbers = []
    for offset, shape, material in visuals:
        pose = offset @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
        part = meshes.transform(_shape_mesh(shape), pose.position, quaternion_to_matrix(pose.orientation))
        parts.append(meshes.Mesh(part.vertices, part.faces))
        numbers.append(np.full(len(part.faces), surfaces.index((material, shape.glow)), np.int32))
    whole = meshes.concatenate(parts)
    mesh = meshes.Mesh(whole.vertices, whole.faces, np.concatenate(numbers))
    materials, glows = (tuple(part) for part in zip(*surfaces, strict=True))
    return RayBody(name, owner, mesh, materials, row, bit, category, glows)


def _shape_mesh(shape: Shape) -> meshes.Mesh:
    match shape.kind:
        case "box":
            return meshes.box(shape.size)
        case "sphere":
            return meshes.sphere(shape.radius)
        case "cylinder":
            return meshes.cylinder(shape.radius, shape.length)
        case "capsule":
            return meshes.capsule(shape.radius, shape.length)
    assert shape.mesh is not None
    return meshes.transform(read_mesh(shape.mesh), scale=shape.scale)
