"""Import of terrain: makes a heightfield file, and a scenario that uses it, from a survey or a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skerry.core.config import Config, Positive
from skerry.core.document import Document
from skerry.core.errors import Fault, FileError, SkerryError
from skerry.core.geo import GeoReference, Projection
from skerry.formats.mesh_files import read_mesh
from skerry.formats.yaml_documents import dump_document
from skerry.importers.vehicle_folder import create_folder
from skerry.terrain import TerrainConfig
from skerry.terrain.kinds.georeferenced import MAX_NODES, SUFFIXES, GeoreferencedTerrain
from skerry.terrain.kinds.heightfield import HeightfieldGround
from skerry.terrain.kinds.mesh import MeshTerrain
from skerry.terrain.resample import fill_from_nearest
from skerry.terrain.terrain import count_nodes
from skerry.world.check import check_file

Floats = NDArray[np.float64]
Extent = tuple[float, float, float, float]

MESH_NODES = 200
"""Number of nodes along the longer side of a mesh if no resolution is given."""
MESH_SUFFIXES = (".stl", ".obj", ".dae")
ARBITRARY_REFERENCE: dict[str, object] = {
    "utm_zone": 31,
    "hemisphere": "north",
    "easting": 500_000.0,
    "northing": 1_000_000.0,
}
"""Reference for heights without a position on Earth: any point where a metre of the UTM grid is a metre."""


class TerrainOptions(Config):
    """Options for values that a terrain file does not contain."""

    resolution: Positive | None = None
    """Distance between nodes, m; default: a pixel of the file, or 1/200 of a mesh's longer side."""
    crs: str | None = None
    """Coordinate system of the file."""
    cell: Positive | None = None
    """Distance between the numbers of an .npy file, m."""
    positive: str = "up"
    """`up` for heights, `down` for depths."""
    vertical_offset: float = 0.0
    """Offset that is added to all heights, m."""
    scale: Positive = 1.0
    """Length of one unit of a mesh, m."""
    y_up: bool = False
    """Whether the y axis of a mesh points up."""


@dataclass(frozen=True)
class ImportedTerrain:
    """Folder and summary of an imported terrain."""

    folder: Path
    summary: str


def import_terrain(path: Path, out: Path | None = None, options: TerrainOptions | None = None) -> ImportedTerrain:
    """Write `heights.npy` and `terrain.yaml`, a scenario to extend, into a new folder, and check that it builds.

    Args:
        path: Survey or mesh.
        out: Folder to create; default: the name of the file in the working directory.
        options: Values that the file does not contain.

    Raises:
        SkerryError: The file cannot be read, or the folder exists.
    """
    options = options or TerrainOptions()
    suffix = path.suffix.lower()
    if suffix not in (*SUFFIXES, *MESH_SUFFIXES):
        problem = f"must be one of {', '.join((*SUFFIXES, *MESH_SUFFIXES))}"
        raise FileError(str(path), [Fault("", problem, hint="gdal_translate converts most other formats to GeoTIFF")])
    if not path.is_file():
        raise FileError(str(path), [Fault("", "there is no such file")])
    if suffix in MESH_SUFFIXES:
        extent, heights, filled = _mesh_heights(path, options)
        reference = None
    else:
        ground, reference = _survey_ground(path, options)
        extent, heights, filled = ground.extent, ground.heights, ""
    folder = create_folder(out or Path(path.stem))
    # Single precision is exact to half a millimetre at the depth of the Mariana Trench and halves the size.
    np.save(folder / "heights.npy", heights[::-1].astype(np.float32))
    west, south, east, north = map(float, extent)
    terrain = {
        "kind": "heightfield",
        "array": "heights.npy",
        "size": [round(east - west, 6), round(north - south, 6)],
        "center": [round((west + east) / 2, 6), round((south + north) / 2, 6)],
    }
    scenario = {"name": path.stem} | ({"reference": reference} if reference else {}) | {"terrain": terrain}
    rows, columns = heights.shape
    spacing = (east - west) / (columns - 1), (north - south) / (rows - 1)
    summary = (
        f"{columns} × {rows} heights every {spacing[0]:.4g} m × {spacing[1]:.4g} m, from {heights.min():.2f} m to "
        f"{heights.max():.2f} m{filled}"
    )
    head = f"# Terrain from {path.name}: {summary}.\n# Use it by `extends: {folder.name}/terrain.yaml`.\n"
    (folder / "terrain.yaml").write_text(head + dump_document(scenario), encoding="utf-8")
    check_file(str(folder / "terrain.yaml"))
    return ImportedTerrain(folder, summary)


def _load_config(config: type[TerrainConfig], settings: dict[str, object], path: Path) -> TerrainConfig:
    given = {key: value for key, value in settings.items() if value is not None}
    return config.load(Document(str(path), given))


def _mesh_heights(path: Path, options: TerrainOptions) -> tuple[Extent, Floats, str]:
    """Return the extent of a mesh seen from above, heights at regular nodes (rows northwards), and a note on holes."""
    points = read_mesh(path).vertices * options.scale
    size = np.ptp(points[:, [0, 2]] if options.y_up else points[:, :2], axis=0)
    resolution = options.resolution or float(size.max()) / MESH_NODES
    columns, rows = (count_nodes(side, resolution) for side in size.tolist())
    if columns * rows > MAX_NODES:
        coarser = 1.01 * float(np.sqrt(np.prod(size) / MAX_NODES))
        problem = f"a resolution of {resolution:.3g} m gives {columns} × {rows} nodes; the maximum is {MAX_NODES}"
        raise FileError(str(path), [Fault("", problem, hint=f"give a --resolution of {coarser:.2g} m or more")])
    settings: dict[str, object] = {"mesh": path, "scale": options.scale, "contact_resolution": resolution}
    settings |= {"roll_deg": 90.0 if options.y_up else 0.0, "position": [0.0, 0.0, options.vertical_offset]}
    ground = _load_config(MeshTerrain, settings, path).build()
    west, south, east, north = ground.extent
    nodes = np.empty((rows, columns, 2))
    nodes[..., 0] = np.linspace(west, east, columns)
    nodes[..., 1] = np.linspace(south, north, rows)[:, None]
    heights = np.ascontiguousarray(ground.height(nodes))
    holes = int(np.isnan(heights).sum())
    fill_from_nearest(heights)
    return (
        ground.extent,
        heights,
        f"; {holes} nodes without ground have the height of the nearest node" if holes else "",
    )


def _survey_ground(path: Path, options: TerrainOptions) -> tuple[HeightfieldGround, dict[str, object] | None]:
    """Return the terrain, and the position of its centre on Earth if the file has one."""
    settings: dict[str, object] = {
        "file": path,
        "crs": options.crs,
        "positive": options.positive,
        "vertical_offset": options.vertical_offset,
        "resolution": options.resolution,
    }
    reference: dict[str, object] | None = None
    if path.suffix.lower() == ".npy":
        settings |= _local_bounds(path, options.cell)
    config = _load_config(GeoreferencedTerrain, settings, path)
    assert isinstance(config, GeoreferencedTerrain)
    if path.suffix.lower() != ".npy":
        reference = _centre(config)
    return config.build(Projection(GeoReference.model_validate(reference or ARBITRARY_REFERENCE))), reference


def _local_bounds(path: Path, cell: Positive | None) -> dict[str, object]:
    """Return bounds in the UTM grid around the arbitrary reference for an array without a position on Earth."""
    if cell is None:
        problem = "does not contain the distance between its numbers; give --cell in metres, or use an .npz with axes"
        raise FileError(str(path), [Fault("", problem)])
    try:
        rows, columns = np.lib.format.open_memmap(path, mode="r").shape
    except (OSError, ValueError) as error:
        raise FileError(str(path), [Fault("", f"is not a valid two-dimensional .npy file: {error}")]) from None
    projection = Projection(GeoReference.model_validate(ARBITRARY_REFERENCE))
    x, y, width, length = *projection.origin[:2], columns * cell, rows * cell
    bounds = [x - width / 2, y - length / 2, x + width / 2, y + length / 2]
    return {"bounds": bounds, "crs": f"EPSG:{projection.epsg}"}


def _centre(config: GeoreferencedTerrain) -> dict[str, object]:
    """Return the position of the centre of a file on Earth."""
    from pyproj import Transformer

    raster = config.raster()
    rows, columns = raster.shape
    x, y = raster.matrix @ ((columns - 1) / 2, (rows - 1) / 2, 1.0)
    longitude, latitude = Transformer.from_crs(raster.crs, "EPSG:4326", always_xy=True).transform(x, y)
    if not (abs(latitude) <= 80.0 and abs(longitude) <= 180.0):
        raise SkerryError(
            f"{config.file}: its centre is not on Earth, or too near to a pole; give its coordinate system with --crs"
        )
    return {"latitude_deg": round(float(latitude), 8), "longitude_deg": round(float(longitude), 8)}
