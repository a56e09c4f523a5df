"""Presentation times and key frames of a video file, for frame-accurate seeking."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from av.packet import Packet
from av.video.stream import VideoStream

from scstream_app.sources.decoder import has_picture

# Number of key frames to go back in successive attempts: some containers land after the requested time.
_STEPS_BACK = (0, 1, 3, 7)


class FrameTimes:
    """Presentation times of all frames in order: frame i is shown at ``times[i]``."""

    def __init__(self, times: list[int], keys: list[int]) -> None:
        self.times = times
        self._keys = keys
        self._entries = frozenset(keys)

    def __len__(self) -> int:
        return len(self.times)

    def place(self, time: int | None) -> int | None:
        """Index of the frame with exactly this presentation time; None if there is none."""
        if time is None:
            return None
        place = bisect_left(self.times, time)
        return place if place < len(self.times) and self.times[place] == time else None

    def entries(self, place: int) -> Iterator[int]:
        """Yield times of key frames from which frame ``place`` can be decoded, the nearest first."""
        last = bisect_right(self._keys, self.times[min(place, len(self.times) - 1)]) - 1
        for back in _STEPS_BACK:
            # The first key frame is the start of the file, which the decoder reaches without seeking.
            if last - back > 0:
                yield self._keys[last - back]

    def is_entry(self, time: int | None) -> bool:
        """Whether there is a key frame with this presentation time."""
        return time in self._entries

    def passes_entry(self, start: int, stop: int) -> bool:
        """Whether there is a key frame after ``start`` and not after ``stop``, so that a jump saves decoding."""
        last = len(self.times) - 1
        first_key = bisect_right(self._keys, self.times[min(start, last)])
        return first_key < bisect_right(self._keys, self.times[min(stop, last)])


def scan_frame_times(packets: Iterable[Packet[VideoStream]], first: int) -> FrameTimes | None:
    """Collect the frame times of a file whose first frame has time ``first``; None if times do not give the order."""
    times: set[int] = set()
    keys: list[int] = []
    decoded_at: int | None = None
    for packet in filter(has_picture, packets):
        time, at = packet.pts, packet.dts
        turned_back = at is not None and decoded_at is not None and at < decoded_at
        if time is None or time in times or turned_back:
            return None
        times.add(time)
        decoded_at = decoded_at if at is None else at
        if packet.is_keyframe and time >= first:
            keys.append(time)
    return FrameTimes(sorted(time for time in times if time >= first), sorted(keys)) if first in times else None
