"""Import of vehicles (URDF, SDF, Stonefish, JSON) and terrain (surveys, meshes), and export of vehicles as JSON."""
