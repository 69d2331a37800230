"""Physics, the only package that imports MuJoCo: model (parts → MjSpec), engine, native program, laws/ (forces)."""
