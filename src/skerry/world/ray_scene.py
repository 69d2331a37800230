"""What rays see of a world: the visuals of its robots and objects, the ground, and ropes, where they are now."""

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
    """The world for rays. Its scene is built when somebody first looks; frames follow the bodies."""

    def __init__(
        self,
        bodies: Callable[[], list[RayBody]],
        motion: NDArray[np.float64],
        ropes: Callable[[], list[RayRope]],
        userdata: NDArray[np.float64],
        state_of_ropes: slice,
    ) -> None:
        self._bodies = bodies
        self._motion = motion
        self._ropes = ropes
        self.state_of_ropes = state_of_ropes
        """Where it is in userdata."""
        self._state = userdata[state_of_ropes]
        self._frame: Frame | None = None
        self._seen = b""  # the motions and ropes that the frame shows

    @cached_property
    def scene(self) -> RayScene:
        return RayScene(self._bodies(), load_tracer(), self._ropes())

    def view(self, own_mask_bit: int | None = None) -> RayCaster:
        """The world now, without the robot of that bit.

        It is valid until time goes on; `hold` its frame to keep it longer.
        """
        motion, state = self._motion, self._state
        now = motion.tobytes() + state.tobytes()
        if self._frame is not None and now != self._seen and self._frame.users > 1:
            self.scene.release(self._frame)
            self._frame = None
        if self._frame is None:
            self._frame = self.scene.frame(motion, state)
        elif now != self._seen:
            self.scene.move(self._frame, motion, state)
        self._seen = now
        return RayCaster(self.scene, self._frame, motion, own_mask_bit)

    def hold(self) -> Frame:
        """The bodies where they are now, to be released: the frame of those who look now, as they see the same.

        To move all bodies costs as much as some hundred rays.
        """
        return self.scene.hold(self.view().frame)


def bodies_for_rays(loaded: LoadedScenario, model: Model, terrain: Terrain | None) -> list[RayBody]:
    """The ground, then objects and robots, in the scenario's order."""
    scenario = loaded.scenario
    own = scenario.materials
    found = []
    if terrain is not None:
        # A mesh file's own names mean nothing here unless they happen to be known.
        ground = scenario.terrain.material if scenario.terrain is not None else None
        materials = tuple(find_material(name, own, instead=ground) for name in terrain.materials)
        found.append(RayBody("terrain", "", terrain.triangles(), materials))
    for name, thing in scenario.objects.items():
        visuals = [
            (Pose.identity(), shape, find_material(shape.material, own, _colour(shape)))
            for shape in thing.robot(name).links["body"].visuals
        ]
        found.append(_ray_body(f"objects/{name}", name, visuals, model.roots[name], OBJECT_BIT, thing.category or name))
    for number, name in enumerate(scenario.robots):
        bits = robot_bit(number)
        category = Path(scenario.robots[name].vehicle).name
        carriers = {handle.body: link for link, handle in reversed(model.links[name].items())}
        for row, visuals in _by_body(loaded, model, name, own).items():
            found.append(_ray_body(f"{name}/{carriers[row]}", name, visuals, row, bits, category))
    return found


Visual = tuple[Pose, Shape, NamedMaterial]


def _by_body(loaded: LoadedScenario, model: Model, name: str, own: Mapping[str, Material]) -> dict[int, list[Visual]]:
    """The visuals of a robot, by the engine's body that carries them."""
    found: dict[int, list[Visual]] = {}
    for link in loaded.vehicles[name].robot.links.values():
        handle = model.links[name][link.name]
        for shape in link.visuals:
            material = _hull_material(shape, own)
            found.setdefault(handle.body, []).append((handle.offset, shape, material))
    return found


def _hull_material(shape: Shape, own: Mapping[str, Material]) -> NamedMaterial:
    """A robot's part is of the material that its URDF names, if that is known here; else of a painted hull's."""
    return find_material(shape.material, own, _colour(shape), instead="hull")


def _colour(shape: Shape) -> Colour | None:
    return None if shape.colour is None else shape.colour[:3]


def _ray_body(name: str, owner: str, visuals: list[Visual], row: int, bit: int, category: str) -> RayBody:
    """The shapes as one mesh in the body's frame, its faces with places in the materials."""
    looks = list(dict.fromkeys((material, shape.glow) for _, shape, material in visuals))
    parts = []
    numbers = []
    for offset, shape, material in visuals:
        pose = offset @ Pose(np.array(shape.position), rpy_to_quaternion(shape.rpy))
        part = meshes.transform(_shape_mesh(shape), pose.position, quaternion_to_matrix(pose.orientation))
        parts.append(meshes.Mesh(part.vertices, part.faces))
        numbers.append(np.full(len(part.faces), looks.index((material, shape.glow)), np.int32))
    whole = meshes.concatenate(parts)
    mesh = meshes.Mesh(whole.vertices, whole.faces, np.concatenate(numbers))
    materials, glows = (tuple(part) for part in zip(*looks, strict=True))
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
