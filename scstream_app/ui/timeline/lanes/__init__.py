"""Lanes of objects below the timeline, with their edits as keys."""
