"""The ground: level, a grid of heights, or a mesh; one object answers for it, natively and from Python."""

from skerry.terrain.terrain import (
    TERRAINS,
    ContactHeightfield,
    ContactPlane,
    GroundSample,
    Terrain,
    TerrainConfig,
)

__all__ = ["TERRAINS", "ContactHeightfield", "ContactPlane", "GroundSample", "Terrain", "TerrainConfig"]
