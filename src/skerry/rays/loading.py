"""Choice of the tracer: Embree if its wheel is installed, otherwise Skerry's own."""

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
"""Environment variable that selects the tracer "embree" or "own". Without it the faster available one is used."""


def load_tracer() -> Tracer:
    """Return the tracer that SKERRY_TRACER selects, or the fastest available one.

    Raises:
        DependencyError: If Embree is selected and not available.
        UnknownName: If the selected tracer does not exist.
    """
    match os.environ.get(CHOICE, ""):
        case "":
            return _fastest()
        case "embree":
            return load_embree()
        case "own":
            return _own()
        case other:
            raise UnknownName(f"{CHOICE}: unknown tracer {other!r}; {did_you_mean(other, ['embree', 'own'])}")


@cache
def _fastest() -> Tracer:
    try:
        return load_embree()
    except DependencyError as error:
        logger.warning("Embree is not available (%s); using Skerry's own ray tracer, at about half the speed", error)
        return _own()


@cache
def _own() -> Tracer:
    from skerry.rays.own_tracer import OwnTracer  # imported late, because it compiles kernels that Embree does not need

    return OwnTracer()
