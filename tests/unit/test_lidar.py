"""Lidar settings: refused values, and the effect of settings on the beams of a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from skerry.sensors.lidar import Lidar, LidarSensor, PlanarSensor
from skerry.sensors.raycast.lidar_patterns import PATTERNS


def lidar(**settings: Any) -> Lidar:
    return Lidar.model_validate({"link": "base_link", "frequency": 10, "pattern": "vlp_16", **settings})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"pattern": "vlp_61"}, "unknown lidar pattern 'vlp_61'; did you mean 'vlp_16'"),
        ({"pattern": "xyz"}, "known: avia, "),
        ({"min_range": 5, "max_range": 4}, r"the minimum range \(5 m\) must be below the maximum range \(4 m\)"),
        ({"min_range": 100}, r"must be below the maximum range \(100 m\)"),
        ({"min_range": -1}, "greater than or equal to 0"),
        ({"max_range": 0}, "greater than 0"),
        ({"max_range": float("inf")}, "finite"),
        ({"dark_range": 0}, "greater than 0"),
        ({"noise": -0.1}, "greater than or equal to 0"),
        ({"dropout": 1.5}, "less than or equal to 1"),
        ({"channels": 0}, "greater than or equal to 1"),
        ({"columns": 0}, "greater than or equal to 1"),
        ({"columns": 10, "resolution_deg": 1}, "`columns` and `resolution_deg` are both given"),
        ({"fov_deg": 0}, "greater than 0"),
        ({"fov_deg": 361}, "less than or equal to 360"),
        ({"lowest_deg": 20}, r"the lowest channel \(20°\) must not be above the highest \(15°\)"),
        ({"lowest_deg": -91}, "greater than or equal to -90"),
        ({"channels": 1000, "columns": 5000}, "5000000 beams; the maximum is 4000000"),
        ({"pattern": "hap", "frequency": 0.1}, "beams; the maximum is"),
        ({"pattern": "planar", "channels": 2}, "planar does not support `channels`"),
        ({"pattern": "avia", "columns": 100, "fov_deg": 90}, "avia does not support `columns`, `fov_deg`"),
        ({"wind_speed": -1}, "greater than or equal to 0"),
        ({"intensity_scale": 0}, "greater than 0"),
        ({"channel": 3}, "[Ee]xtra"),
    ],
)
def test_bad_settings_are_refused_with_a_clear_message(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        lidar(**settings)


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_builds_and_names_its_source(name: str) -> None:
    sensor = lidar(pattern=name).build()
    assert isinstance(sensor, PlanarSensor if name == "planar" else LidarSensor)
    assert sensor.latest_rays() is None
    pattern = PATTERNS[name]
    assert len(pattern.source) > 20
    assert 0 < pattern.limits.min_range < pattern.limits.dark_range <= pattern.limits.max_range


def test_configured_channels_are_spread_evenly() -> None:
    sensor = lidar(pattern="vlp_32c", channels=5, lowest_deg=-10, highest_deg=10, columns=7).build()
    rows = sensor.bundle.directions.T.reshape(5, 7, 3)
    assert np.degrees(np.arcsin(rows[:, 3, 2])) == pytest.approx([-10, -5, 0, 5, 10], abs=1e-4)
    assert np.degrees(np.arctan2(rows[0, :, 1], rows[0, :, 0]))[0] == pytest.approx(-180, abs=1e-3)


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        ({}, 1808),
        ({"columns": 5}, 5),
        ({"resolution_deg": 1}, 360),
        ({"fov_deg": 90, "resolution_deg": 1}, 91),
        ({"fov_deg": 90}, 453),
        ({"pattern": "planar"}, 1081),
        ({"pattern": "planar", "fov_deg": 180}, 721),
        ({"pattern": "planar", "columns": 1}, 1),
        ({"pattern": "os1_128_1024", "frequency": 20}, 1024),
    ],
)
def test_columns_follow_from_the_field_of_view_and_the_resolution(settings: dict[str, Any], columns: int) -> None:
    sensor = lidar(**settings).build()
    channels = len(PATTERNS[settings.get("pattern", "vlp_16")].elevations_deg)  # type: ignore[attr-defined]
    assert len(sensor.bundle) == channels * columns
