"""A stack of frames is indexed like an array, and reads only what it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scstream_app.errors import SourceError
from scstream_app.napari_plugin.frame_stack import CACHED, FrameStack

VALUES = np.arange(20 * 4 * 5).reshape(20, 4, 5)


@pytest.mark.parametrize(
    "key",
    [
        3,
        -1,
        np.int64(2),
        slice(2, 8, 3),
        slice(5, 5),
        (4, slice(None), 2),
        (slice(1, 3), 0),
        (slice(None), slice(1, 3), 4),
        (Ellipsis, 2),
        (1, Ellipsis),
        Ellipsis,
        [3, 1],
        (slice(5, 5), 1),
    ],
    ids=str,
)
def test_it_is_indexed_like_an_array(key: Any) -> None:
    stack = FrameStack(lambda place: VALUES[place], VALUES.shape, VALUES.dtype, pytest.fail)
    np.testing.assert_array_equal(stack[key], VALUES[key])


def test_an_index_beyond_its_end_raises() -> None:
    stack = FrameStack(lambda place: VALUES[place], VALUES.shape, VALUES.dtype, pytest.fail)
    with pytest.raises(IndexError):
        stack[20]


def test_a_frame_is_read_once_while_it_is_kept() -> None:
    read: list[int] = []

    def frame(place: int) -> Any:
        read.append(place)
        return VALUES[place]

    stack = FrameStack(frame, VALUES.shape, VALUES.dtype, pytest.fail)
    assert read == []
    for place in (0, 1, 0):
        stack[place]
    assert read == [0, 1]
    for place in (*range(2, 2 + CACHED), 0):
        stack[place]
    assert read == [*range(2 + CACHED), 0]


def test_a_frame_that_cannot_be_read_is_empty_and_reported_once() -> None:
    def frame(place: int) -> Any:
        if place == 1:
            raise SourceError("Cannot read frame 1.")
        return VALUES[place]

    reports: list[str] = []
    stack = FrameStack(frame, VALUES.shape, VALUES.dtype, reports.append)
    whole = np.asarray(stack)
    np.asarray(stack)
    assert reports == ["Cannot read frame 1."]
    assert not whole[1].any()
    np.testing.assert_array_equal(whole[2:], VALUES[2:])
