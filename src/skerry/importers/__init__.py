"""Vehicles and ground from and to the files of other programs: URDF, SDF, Stonefish, JSON; surveys and meshes."""
