"""Where the picture is in the viewer: zoom, position, and the copies that a view shows."""
