"""Entry point of `python -m skerry`."""

from skerry.cli import main

main()
