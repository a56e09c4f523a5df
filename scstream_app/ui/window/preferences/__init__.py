"""Preferences: their table, the dialog, and what they change."""
