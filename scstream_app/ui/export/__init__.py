"""The export dialog and its worker."""
