"""Underwater acoustics: the channel between robots, and the parts that transmit and receive, one kind per file."""
