"""The command line: one file per command; `main` is the entry point."""

from skerry.cli.main import app, main, parse_settings, parse_speed

__all__ = ["app", "main", "parse_settings", "parse_speed"]
