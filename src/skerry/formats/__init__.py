"""File formats: URDF, XML, meshes, images and charts. Imports only `core`."""
