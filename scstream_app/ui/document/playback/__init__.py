"""Which frame is shown when: playback, times, and the range of frames to segment."""
