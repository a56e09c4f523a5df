"""Cluster messages that arrive one by one, as from Kafka, MQTT or a log file, and continue after an interruption.

    python examples/micro_batches.py
    python examples/micro_batches.py messages.jsonl checkpoints   # lines such as {"time": 3.5, "values": [0.1, 2.0]}

A consumer is an iterator of messages. Messages are learned in batches, because a batch of one point costs almost as
much as one of a hundred. Each batch has the time of its last message: the model forgets by the clock, not by the number
of batches. The name of a saved model says how many messages it has learned. A consumer that is started again skips
these (in Kafka: seeks to this offset) and gives the same ids as one that was never interrupted.
"""

import json
import sys
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np

from scstream import Gaussian, ScStream

#: Messages of a batch, and messages between two saved models.
ROWS = 100
SAVE_EVERY = 500


def synthetic_messages(n=2000, seed=0):
    """Yield messages of three machines, one of which starts in the middle, ten per unit of time."""
    rng = np.random.default_rng(seed)
    levels = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    for number in range(n):
        machine = rng.integers(3 if number >= n // 2 else 2)
        yield json.dumps({"time": number / 10, "values": rng.normal(levels[machine], 1.0).tolist()})


def last_checkpoint(folder):
    """Return the newest saved model, or a new one, and the number of messages that it has learned."""
    learned = max((int(path.stem) for path in folder.glob("*.npz")), default=0)
    if learned:
        return ScStream.load(folder / f"{learned}.npz"), learned
    return ScStream(Gaussian(psi=1.0), alpha=10.0, decay=0.01, seed=0), 0


def consume(messages, folder):
    """Learn all messages that the last checkpoint has not; yields (model, number of messages) after each batch."""
    model, learned = last_checkpoint(folder)
    decoded = map(json.loads, islice(messages, learned, None))
    while batch := list(islice(decoded, ROWS)):
        model.partial_fit([message["values"] for message in batch], time=batch[-1]["time"])
        learned += len(batch)
        if learned % SAVE_EVERY == 0:
            model.save(folder / f"{learned}.npz")
        yield model, learned


def main(path=None, folder=None):
    """Learn the messages of a file, or synthetic ones, with an interruption."""
    if path is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open(path, encoding="utf-8") as messages:
            report(consume(messages, Path(folder)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        report(islice(consume(synthetic_messages(), Path(scratch)), 12))
        print("interrupted; the next consumer continues with the last saved model")
        report(consume(synthetic_messages(), Path(scratch)))


def report(batches):
    """Print the events of each batch, and the result."""
    for model, learned in batches:
        for event in model.events_:
            print(f"after {learned} messages: {event.kind}, ids {event.ids}")
    print(f"{learned} messages, {model.n_clusters_} clusters")


if __name__ == "__main__":
    main(*sys.argv[1:])
