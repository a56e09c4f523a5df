"""The open clip: its session, what is shown of it, its worker threads, playback and undo."""
