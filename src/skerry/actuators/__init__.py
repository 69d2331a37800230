"""Actuators, one kind per file, its law beside it."""

NOT_KINDS = ("joints", "motors", "shaft", "thrust_curves")
