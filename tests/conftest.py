"""Settings of all tests."""

from hypothesis import settings

# How long an example takes says nothing on a shared machine.
settings.register_profile("skerry", deadline=None)
settings.load_profile("skerry")
