"""`skerry dataset`: write labelled images of a scenario."""

from __future__ import annotations

from typing import Annotated

import typer

from skerry.cli._options import NoiseOption, SetOption, parse_settings


def dataset(
    scenario: Annotated[str, typer.Argument(help="Name of a shipped scenario, or path of a scenario file.")],
    camera: Annotated[str, typer.Option(help="Camera whose lens and image size are used: `robot/camera`.")],
    out: Annotated[str, typer.Option(help="Folder to create.")],
    count: Annotated[int, typer.Option(help="Number of images.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the random viewpoints, water and light.")] = 0,
    settings: SetOption = None,
    noise: NoiseOption = None,
) -> None:
    """Write labelled images of a scenario for training a neural network: JPEG, YOLO labels, train.txt, data.yaml.

    Viewpoint, turbidity and daylight are random for each image. The same seed gives the same files.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from skerry.dataset import DatasetOptions, write_dataset

    overrides = parse_settings(settings, noise)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("images", total=count)
        labels = write_dataset(
            scenario,
            camera,
            out,
            DatasetOptions(count, seed),
            overrides,
            lambda done: progress.update(task, completed=done),
        )
    console.print(f"{count} images with {labels} labels in {out}", soft_wrap=True)
