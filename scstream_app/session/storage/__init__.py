"""The files that a session folder holds, one kind of file a module, and how they are read and written safely."""
