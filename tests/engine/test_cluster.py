"""Batches on a cluster: any number of workers, and the loss of one, give the labels of one process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.sizeof import sizeof
from distributed import Client, LocalCluster

from reference import Array, Ints
from scstream import Gaussian, ScStream
from scstream.components import Component
from scstream.sampler.points import CHUNK

pytestmark = pytest.mark.slow

N_CHUNKS, D = 4, 5
PRIOR = Gaussian(psi=1.0)


def points_maker() -> Callable[[int], Array]:
    """Function that makes chunk n of a batch. Not a function of this module, which workers cannot import."""

    def points(n: int) -> Array:
        rng = np.random.default_rng(n)
        centres = np.random.default_rng(0).normal(0.0, 8.0, (6, 5))
        return centres[rng.integers(0, 6, 2**14)] + rng.normal(size=(2**14, 5))

    return points


def whole_batch(batch: int) -> Array:
    return np.concatenate([points_maker()(n) for n in range(N_CHUNKS)]) + batch


def remote_batch(batch: int) -> da.Array:
    """The same batch, of which chunks cannot be made in this process."""
    points, client = points_maker(), os.getpid()

    def make(n: Ints) -> Array:
        assert os.getpid() != client
        return points(int(n[0, 0])) + batch

    numbers = da.from_array(np.arange(N_CHUNKS)[:, None], chunks=1)
    return numbers.map_blocks(make, chunks=((CHUNK,) * N_CHUNKS, (D,)), meta=np.empty((0, D)))


def model_of(component: Component = PRIOR) -> ScStream:
    return ScStream(component, seed=1, max_init_sweeps=6, revise=None)


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Client]:
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_labels_of_one_process(n_workers: int) -> None:
    plain, model = model_of(), model_of()
    with cluster_of(n_workers):
        for batch in range(2):
            plain.partial_fit(whole_batch(batch))
            model.partial_fit(remote_batch(batch))
            np.testing.assert_array_equal(model.labels_.compute(), plain.labels_)
            assert model.log_posterior_ == plain.log_posterior_
        np.testing.assert_array_equal(model.predict(remote_batch(1)).compute(), plain.predict(whole_batch(1)))


def test_a_worker_that_is_killed_costs_a_retry(tmp_path: Path) -> None:
    armed, client = str(tmp_path / "armed"), os.getpid()

    class Deadly(Gaussian):
        """Kills the first worker that computes statistics once there is a file."""

        def statistics(self, points: Any, weight: Any, groups: Any, n_groups: int) -> Any:
            if os.getpid() != client and os.path.exists(armed):
                os.remove(armed)
                os.kill(os.getpid(), signal.SIGKILL)
            return super().statistics(points, weight, groups, n_groups)

    plain, model = model_of(Deadly(psi=1.0)), model_of(Deadly(psi=1.0))
    with cluster_of(2):
        model.partial_fit(remote_batch(0))
        first = model.labels_
        Path(armed).touch()
        model.partial_fit(remote_batch(1))
        assert not os.path.exists(armed)
        np.testing.assert_array_equal(plain.partial_fit(whole_batch(0)).labels_, first.compute())
        np.testing.assert_array_equal(plain.partial_fit(whole_batch(1)).labels_, model.labels_.compute())


def test_the_points_do_not_come_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    received = 0
    compute = dask.compute

    def counting(*args: Any, **kwargs: Any) -> Any:
        nonlocal received
        results = compute(*args, **kwargs)
        received += sizeof(results)
        return results

    monkeypatch.setattr(dask, "compute", counting)
    size = 8 * D * CHUNK * N_CHUNKS
    with cluster_of(2):
        model = model_of().partial_fit(remote_batch(0))
        # Mostly the 16,000 points that starts are tried on.
        assert 0 < received < 0.35 * size
        received = 0
        model.partial_fit(remote_batch(1))
        assert 0 < received < 0.05 * size
