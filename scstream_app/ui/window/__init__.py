"""Main window, status bar, welcome page, preferences and help."""
