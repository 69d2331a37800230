"""Settings of all tests, and what several of them need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from skerry.rays.tracer import Tracer

# How long an example takes says nothing on a shared machine.
settings.register_profile("skerry", deadline=None)
settings.load_profile("skerry")


@pytest.fixture(params=["embree", "own"])
def tracer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tracer:
    """Each of the tracers in turn."""
    from skerry.core.errors import DependencyError
    from skerry.rays import load_tracer

    monkeypatch.setenv("SKERRY_TRACER", request.param)
    try:
        return load_tracer()
    except DependencyError as error:
        pytest.skip(str(error))
