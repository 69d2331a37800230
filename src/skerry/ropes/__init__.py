"""Ropes: chains of nodes with an implicit solver, tied to bodies, paid out by winches, caught by hooks."""
