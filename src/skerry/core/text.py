"""Text for messages: a number with its noun."""

from __future__ import annotations


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 robot" or "2 robots"; the plural adds an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
