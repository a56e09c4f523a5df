"""Cluster the rows of Parquet files that are larger than the memory, and write their ids.

    python examples/parquet_stream.py
    python examples/parquet_stream.py ids.parquet first.parquet second.parquet ...

pyarrow reads a few thousand rows at a time; the model keeps sums of what it has seen, not rows. So the memory needed
does not depend on the size of the files. Every column of numbers is a feature. The output has one id for each row, in
the order of the rows.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scstream import Gaussian, ScStream

#: Rows of a batch.
ROWS = 5000


def write_synthetic(path, n=20_000, seed=0):
    """Write rows of four groups in row groups of 4096, as a larger file would have them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(4, size=n)
    values = rng.normal(10.0 * np.eye(4)[group][:, :3], 1.0)
    columns = {"x": values[:, 0], "y": values[:, 1], "z": values[:, 2], "name": [f"row {i}" for i in range(n)]}
    pq.write_table(pa.table(columns), path, row_group_size=4096)


def read_batches(paths, rows=ROWS):
    """Yield the numbers (n, D) of at most ``rows`` rows at a time, file after file."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            numeric = [c.name for c in file.schema_arrow if pa.types.is_floating(c.type) or pa.types.is_integer(c.type)]
            for batch in file.iter_batches(rows, columns=numeric):
                yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])


def cluster_files(paths, output, model):
    """Learn all rows and write the id that each had when it was learned; returns the number of rows."""
    n = 0
    with pq.ParquetWriter(output, pa.schema({"id": pa.int64()})) as writer:
        for X in read_batches(paths):
            writer.write_table(pa.table({"id": model.partial_fit(X).labels_}))
            n += len(X)
    return n


def main(output=None, *paths):
    """Cluster the given files, or one that is made up."""
    model = ScStream(Gaussian(), alpha=10.0, decay=0.1, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        if not paths:
            paths = (Path(folder) / "rows.parquet",)
            write_synthetic(paths[0])
        output = output or Path(folder) / "ids.parquet"
        n = cluster_files(paths, output, model)
        written = pq.read_metadata(output).num_rows
    print(f"{n} rows read, {written} ids written, {model.n_clusters_} clusters")
    for cluster in model.clusters_:
        print(f"cluster {cluster.id}: mean {cluster.summary['mean'].round(1)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
