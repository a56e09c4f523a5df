"""The files of a session folder: one module per kind of file, and helpers to read and write them safely."""
