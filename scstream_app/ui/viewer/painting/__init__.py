"""What the viewer paints: the picture, and lines and texts over it."""
