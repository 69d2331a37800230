"""Writing labelled pictures, with a bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from skerry.dataset import DatasetOptions, write_dataset


def write_dataset_in_terminal(
    scenario: str, camera: str, folder: str, count: int, seed: int, overrides: Mapping[str, Any]
) -> None:
    """Write a dataset, and show how far it is."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("pictures", total=count)
        labels = write_dataset(
            scenario,
            camera,
            folder,
            DatasetOptions(count, seed),
            overrides,
            lambda done: progress.update(task, completed=done),
        )
    console.print(f"{count} pictures with {labels} labels in {folder}", soft_wrap=True)
