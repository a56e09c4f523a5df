"""The export formats, sorted by group: `registry` finds every format in the modules of this package's folders."""
