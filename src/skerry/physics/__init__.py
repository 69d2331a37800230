"""The only importer of MuJoCo: model (parts → MjSpec), engine, native (pointers, callback, loop), laws/ (body forces)."""
