"""Terrain: flat, a grid of heights, or a mesh. One object gives heights and materials to native code and Python."""

from skerry.terrain.terrain import (
    TERRAINS,
    ContactHeightfield,
    ContactPlane,
    GroundSample,
    Terrain,
    TerrainConfig,
)

__all__ = ["TERRAINS", "ContactHeightfield", "ContactPlane", "GroundSample", "Terrain", "TerrainConfig"]
