"""The bridge between a world and a bus: one class per feature, such as sensor topics, setpoints or teleporting.

`node` assembles the features; `profile` reads the tables of topic names and message types in `profiles/`.
"""
