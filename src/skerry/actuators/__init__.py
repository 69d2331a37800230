"""Actuators, one kind per file, its law beside it."""

NOT_KINDS = ("joints", "shaft", "thrust_curves")
