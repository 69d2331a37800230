"""The only importer of MuJoCo: model (parts → MjSpec), engine, program (callback, loop), links, laws/ (body forces)."""
