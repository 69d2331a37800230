"""The `skerry` command line: one file per command, collected in `app`."""

from skerry.cli.app import app, main

__all__ = ["app", "main"]
