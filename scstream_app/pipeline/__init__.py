"""From a source's frames to segmented frames: the loop that the window and the command line share."""
