"""The main window and what is around it: menus, status bar, welcome page, preferences, help."""
