"""The sea as fields: surface, currents, density; one object answers every water query, natively and from Python."""

from skerry.water.water import Water, WaterConfig, WaterSample

__all__ = ["Water", "WaterConfig", "WaterSample"]
