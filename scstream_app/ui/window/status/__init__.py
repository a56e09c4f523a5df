"""The status bar: what the program is doing, and how far it is."""
