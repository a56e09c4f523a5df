"""The timeline under the picture, and the playback buttons."""
