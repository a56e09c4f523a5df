"""Timeline under the picture, and playback controls."""
