"""Interfaces: kinds of connections through which other programs observe and command a world."""
