"""What the mouse does in the viewer, apart from drawing."""
