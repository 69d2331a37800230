"""Water as fields: surface, currents, density. One object serves all water queries, native and from Python."""

from skerry.water.water import Water, WaterConfig, WaterSample

__all__ = ["Water", "WaterConfig", "WaterSample"]
