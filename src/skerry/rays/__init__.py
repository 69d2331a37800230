"""Rays through the world: one scene for all sensors that look, listen or measure by them."""

from skerry.rays.loading import load_tracer
from skerry.rays.ropes import RayRope, Strand
from skerry.rays.scene import Frame, RayBody, RayScene, robot_bit
from skerry.rays.sphere_casts import Contact
from skerry.rays.view import Bundle, Hits, RayView, RayViews

__all__ = [
    "Bundle",
    "Contact",
    "Frame",
    "Hits",
    "RayBody",
    "RayRope",
    "RayScene",
    "RayView",
    "RayViews",
    "Strand",
    "load_tracer",
    "robot_bit",
]
