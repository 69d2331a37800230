"""Ray casting: one scene of triangles and ropes that cameras, lidars, sonars and range finders share."""

from skerry.rays.loading import load_tracer
from skerry.rays.ray_caster import Bundle, Hits, RayCaster, RayCasterBatch
from skerry.rays.ropes import RayRope, Strand
from skerry.rays.scene import Frame, RayBody, RayScene, robot_bit
from skerry.rays.sphere_casts import SphereHit

__all__ = [
    "Bundle",
    "Frame",
    "Hits",
    "RayBody",
    "RayCaster",
    "RayCasterBatch",
    "RayRope",
    "RayScene",
    "SphereHit",
    "Strand",
    "load_tracer",
    "robot_bit",
]
