"""Build hooks of the documentation site: they add the generated pages, and files from outside docs/."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from reference import PAGES

ROOT = Path(__file__).parents[2]
SITE_PATHS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the repository's root, and their paths on the site."""


def on_config(config: Any) -> Any:
    """Append pages that are missing in the navigation to its end, so that every page is reachable."""
    listed = set(_pages(config.nav))
    found = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    more = [uri for uri in found if uri not in listed and not config.not_in_nav.match_file(uri)]
    if more:
        config.nav.append({"More": more})
    return config


def _pages(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for item in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _pages(item)


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, the root files, the examples and the licence."""
    for uri, make in PAGES.items():
        files.append(File.generated(config, uri, content=make()))
    for name, uri in SITE_PATHS.items():
        files.append(File.generated(config, uri, content=(ROOT / name).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        files.append(File.generated(config, f"examples/{path.stem}.md", content=text))
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    files.append(File.generated(config, "license.md", content=f"# Licence\n\n```text\n{licence}```\n"))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links to the paths on the site, and give code blocks the names of their files as titles."""
    uri = page.file.src_uri
    source = next((name for name, path in SITE_PATHS.items() if path == uri), f"docs/{uri}")

    def link(found: re.Match[str]) -> str:
        target = found[1]
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return found[0]
        path, hash_, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        return f"]({_relative(_on_site(path), uri)}{hash_}{anchor})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    for number, part in enumerate(parts):
        if part.startswith("```"):
            parts[number] = re.sub(r"\A```(\w+) (\S+)$", r'```\1 title="\2"', part, flags=re.MULTILINE)
        elif not uri.startswith(("reference/", "examples/")):
            parts[number] = re.sub(r"\]\(([^)\s]+)\)", link, part)
    return "".join(parts)


def _on_site(path: str) -> str:
    """Return the path on the site of a file of the repository."""
    if path in SITE_PATHS:
        return SITE_PATHS[path]
    if path == "LICENSE":
        return "license.md"
    if path.startswith("tests/validation/"):
        return f"reference/validation.md#{Path(path).stem}"
    if path.startswith("examples/"):
        return path.removesuffix(".py") + ".md"
    return path.removeprefix("docs/")


def _relative(target: str, uri: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(uri) or ".")
