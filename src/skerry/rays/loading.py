"""The tracer of this machine: Embree where its wheel can be had."""

from __future__ import annotations

from functools import cache

from skerry.rays.embree import load_embree
from skerry.rays.tracer import Tracer


@cache
def load_tracer() -> Tracer:
    """The quickest tracer that there is."""
    return load_embree()
