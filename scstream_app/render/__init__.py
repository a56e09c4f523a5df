"""Pictures of segments: image types, colours of ids, views, and masks read from image files."""
