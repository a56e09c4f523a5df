"""The export formats, one per module; `registry` lists them."""
