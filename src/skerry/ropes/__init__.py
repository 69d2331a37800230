"""Ropes: chains of points with an implicit solver, tied to bodies, fed by winches, run over hooks."""
