"""The tracer of this machine: Embree where its wheel can be had, else Skerry's own."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import Final

from skerry.core.errors import DependencyError, UnknownName, did_you_mean
from skerry.rays.embree import load_embree
from skerry.rays.tracer import Tracer

logger = logging.getLogger("skerry")

CHOICE: Final = "SKERRY_TRACER"
"""The environment variable by which a user may ask for "embree" or "own"; without it, the quicker one is taken."""


def load_tracer() -> Tracer:
    """The tracer that the user has asked for, or the quickest that there is."""
    match os.environ.get(CHOICE, ""):
        case "":
            return _quickest()
        case "embree":
            return load_embree()
        case "own":
            return _own()
        case other:
            raise UnknownName(f"{CHOICE}: there is no tracer {other!r}; {did_you_mean(other, ['embree', 'own'])}")


@cache
def _quickest() -> Tracer:
    try:
        return load_embree()
    except DependencyError as error:
        logger.warning("rays are traced by Skerry's own tracer, at about half of Embree's speed: %s", error)
        return _own()


@cache
def _own() -> Tracer:
    from skerry.rays.own_tracer import OwnTracer  # compiles its kernels, which Embree's users never need

    return OwnTracer()
