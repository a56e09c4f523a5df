"""Pixels in tiles: cut from a frame, scored, labelled with clusters and sub-clusters, summed and put together again."""
