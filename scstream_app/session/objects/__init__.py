"""Objects of a session: their tracked masks, curves, and edits in recordings."""
