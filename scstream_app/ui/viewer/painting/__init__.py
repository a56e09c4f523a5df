"""What the viewer paints: the picture, and marks over it."""
