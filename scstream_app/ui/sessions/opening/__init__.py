"""Open clips, cameras and sessions: dialogs, menus, recent files."""
