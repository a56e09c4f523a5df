"""Peak memory of a compared method, measured in a process of its own."""

from __future__ import annotations

from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench import process_memory
from scstream_app.evaluation.bench.video.davis_clips import Clip

#: Frames on which memory is measured: the peak is that of a first frame or of a later one.
_FRAMES = 3


def missing() -> str | None:
    """Why peak memory cannot be measured here; None if it can."""
    return None if process_memory.peak() is not None else "it is read from /proc, which this system does not have"


def peak_memory(name: str, clip: Clip, threads: int, segments: int) -> float:
    """Memory in MiB that a method needs for the first frames of a clip, above what its process needs before them."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(sender, name, clip, threads, segments), daemon=True)
    process.start()
    sender.close()
    try:
        return float(receiver.recv())
    except EOFError:
        raise EvaluationError(f"Cannot measure the memory of '{name}': its process ended early.") from None
    finally:
        process.terminate()
        process.join()


def _measure(sender: Connection, name: str, clip: Clip, threads: int, segments: int) -> None:
    from scstream import warm_up
    from scstream_app.evaluation.bench.timing import limit_threads
    from scstream_app.evaluation.bench.video.methods import METHODS, Input, Setup
    from scstream_app.evaluation.bench.video.speed import points

    with suppress(KeyboardInterrupt):
        warm_up()
        method = next(each for each in METHODS if each.name == name)
        method.missing()
        frames = [Input(picture, points(picture)) for picture in clip.read_pictures(_FRAMES)]
        process_memory.reset_peak()
        before = process_memory.resident() or 0.0
        with limit_threads(threads):
            running = method.start(Setup(threads, 0, segments))
            for frame in frames:
                running.step(frame)
        sender.send((process_memory.peak() or 0.0) - before)
