"""Dialogs: a question, a folder to choose and where to begin, a message before the window opens."""
