"""Pipeline from the frames of a source to segmented frames, shared by the window and the command line."""
