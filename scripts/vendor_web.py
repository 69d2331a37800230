"""Fetch the JavaScript libraries of the operator's page from npm: pinned versions, and only the files that are loaded.

Run it after a change of `PACKAGES`. It needs npm. The files that it writes are committed, so that users and developers
do not need Node.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

VENDOR: Final = Path(__file__).parents[1] / "src/skerry/ui/static/vendor"
# version of each package, and the new name of each of its files
PACKAGES: Final = {
    "three": ("0.187.0", {"build/three.module.js": "three.module.js", "build/three.core.js": "three.core.js"}),
    "uplot": ("1.6.32", {"dist/uPlot.esm.js": "uPlot.esm.js", "dist/uPlot.min.css": "uPlot.min.css"}),
}


def main() -> None:
    """Write the files, their licences, and VERSIONS.json with the hash of each file."""
    VENDOR.mkdir(parents=True, exist_ok=True)
    for old in VENDOR.iterdir():
        old.unlink()
    versions: dict[str, dict[str, object]] = {}
    licences = ["# Licences of the files in this folder\n"]
    for name, (version, files) in PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            command = ["npm", "pack", "--silent", f"{name}@{version}"]
            packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]
            with tarfile.open(Path(folder) / packed) as archive:
                contents = {inside: _read(archive, f"package/{inside}") for inside in [*files, "LICENSE"]}
        for inside, outside in files.items():
            (VENDOR / outside).write_bytes(contents[inside])
        versions[name] = {
            "version": version,
            "sha256": {outside: hashlib.sha256(contents[inside]).hexdigest() for inside, outside in files.items()},
        }
        licences.append(f"## {name} {version}: {', '.join(files.values())}\n\n{contents['LICENSE'].decode().strip()}\n")
    (VENDOR / "VERSIONS.json").write_text(json.dumps(versions, indent=2) + "\n")
    (VENDOR / "LICENSES.md").write_text("\n".join(licences))


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    if member is None:
        raise SystemExit(f"{archive.name} has no file {name}; correct the paths in PACKAGES")
    return member.read()


if __name__ == "__main__":
    main()
