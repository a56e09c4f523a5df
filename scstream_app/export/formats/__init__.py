"""The export formats: `registry` finds every format in every module of this package."""
