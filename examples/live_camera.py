"""Segment a camera live and print the speed.

    python examples/live_camera.py                        # the first camera, until Ctrl-C
    python examples/live_camera.py camera:1 300           # another camera, 300 frames
    python examples/live_camera.py rtsp://host/stream     # a network stream

If the camera cannot be opened, a sample clip takes its place, played at its own pace. `ClipCamera` shows what any
other device, such as an industrial camera, needs to become a source: a name, a rate, `grab` and `release`.
"""

import sys
from pathlib import Path
from time import monotonic, perf_counter, sleep

from scstream import VideoSegmenter, warm_up
from scstream_app.errors import SourceError
from scstream_app.sources import Camera, CameraStalled, open_source

SAMPLE = Path(__file__).parents[1] / "sample_videos" / "crossing.mp4"


class ClipCamera:
    """Device that plays a clip again and again, at the clip's frame rate."""

    def __init__(self):
        self._clip = open_source(str(SAMPLE))
        self.name, self.rate = self._clip.name, self._clip.rate
        self._due = monotonic()

    def grab(self):
        """Wait until the next picture is due and return it, RGB (height, width, 3)."""
        sleep(max(0.0, self._due - monotonic()))
        self._due = max(self._due, monotonic()) + 1.0 / self.rate
        frame = self._clip.read()
        if frame is None:
            self._clip.seek(0)
            frame = self._clip.read()
        return frame.rgb

    def release(self):
        """Close the clip."""
        self._clip.close()


def open_camera(address):
    """Open the camera, or the clip in its place."""
    try:
        return open_source(address)
    except SourceError as error:
        print(f"{error} Playing '{SAMPLE.name}' instead.")
        return Camera(opener=ClipCamera)


def main(address="camera:0", n_frames=None):
    """Segment the newest frame, again and again, and print every tenth time how long that took."""
    warm_up()
    # The default of 200 sweeps over the first frame would take a live picture one or two seconds.
    segmenter = VideoSegmenter(scale=0.5, max_init_sweeps=40, seed=0)
    with open_camera(address) as camera:
        for frame in camera.frames(stop=None if n_frames is None else int(n_frames)):
            start = perf_counter()
            segmenter.segment(frame.rgb)
            if frame.index % 10 == 0:
                print(
                    f"frame {frame.index}: {segmenter.model_.n_clusters_} segments, "
                    f"{1000 * (perf_counter() - start):.0f} ms per frame, "
                    f"{1000 * (monotonic() - frame.captured):.0f} ms after the camera, {camera.dropped} dropped"
                )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (CameraStalled, KeyboardInterrupt) as end:
        print(end or "stopped")
