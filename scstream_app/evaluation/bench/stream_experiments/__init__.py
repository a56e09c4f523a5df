"""The experiments of the ScStream paper on streams of points, with peers from other libraries."""
