"""The clip that is attacked, sessions of it, and the result of an uninterrupted run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from helpers.clips import write_video
from helpers.session_clips import clip
from scstream_app import cli
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import segment_frames
from scstream_app.session import Bookmark, LiveRecorder, Names, Session, SourceFacts, write_run
from scstream_app.session.branch import create_branch
from scstream_app.session.storage.branch_point import BranchPoint
from scstream_app.session.storage.result_merges import ResultMerge
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from torture.outcome import Outcome
from torture.sandbox import Sandbox, forked

FRAMES, CUT, INTERRUPTED = 24, 13, 17
#: Frames between two snapshots of the sessions that are recorded here.
EVERY = 5
SETTINGS = Settings(max_init_sweeps=10, threads=1)
OPTIONS = ("--quiet", "--threads", "1", "--max-init-sweeps", "10")
FORMATS = "ids,csv"
OBJECT = ("--object", "square=4,8,16,16")
#: Names of the sessions in the scene's folder.
SESSIONS = ("finished", "interrupted", "recorded", "branch")


class Scene:
    """The folder with the clip and the sessions, which cases copy and never change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clip = folder / "clip.mp4"
        self.out = folder / "out"
        self.session = self.out / "clip.scstream"

    def prepare(self) -> None:
        """Write everything, in a process of its own: the caller forks later and must have no threads."""
        code = forked(self._write, self.folder / "preparation.log")
        if code:
            raise RuntimeError(f"the scene cannot be prepared: {(self.folder / 'preparation.log').read_text()}")

    @property
    def seconds(self) -> dict[str, float]:
        """How long the commands take that are killed."""
        found: dict[str, float] = json.loads((self.folder / "seconds.json").read_text())
        return found

    @property
    def ids(self) -> npt.NDArray[np.int32]:
        """Ids (frames, H, W) of an uninterrupted run."""
        found: npt.NDArray[np.int32] = np.load(self.folder / "ids.npy")
        return found

    def segment(self, out: Path, *more: str) -> int:
        """`scstream segment`."""
        return cli.main(["segment", str(self.clip), "--out", str(out), "--formats", FORMATS, *OPTIONS, *more])

    def resume(self, session: Path) -> int:
        """`scstream resume`."""
        return cli.main(["resume", str(session), "--quiet", "--threads", "1", "--source", str(self.clip)])

    def export(self, session: Path, out: Path) -> int:
        """`scstream export`."""
        given = ["export", str(session), "--formats", "ids,csv,npz,gif,coco", "--out", str(out), "--quiet"]
        return cli.main([*given, "--source", str(self.clip)])

    def _write(self) -> int:
        write_video(self.clip, [np.ascontiguousarray(frame[8:40, :48]) for frame in clip(FRAMES, CUT)])
        seconds = {}
        # Once to warm up.
        for _ in range(2):
            begin = perf_counter()
            code = self.segment(self.out, "--overwrite", *OBJECT)
            seconds["segment"] = perf_counter() - begin
        with Session.open(self.session) as session:
            np.save(self.folder / "ids.npy", np.stack([session.ids(int(index)) for index in session.frames]))
        begin = perf_counter()
        code += self.export(self.session, self.folder / "exported")
        seconds["export"] = perf_counter() - begin
        self._write_sessions()
        os.makedirs(self.folder / "resumed")
        shutil.copytree(self.folder / "interrupted.scstream", self.folder / "resumed" / "clip.scstream")
        begin = perf_counter()
        code += self.resume(self.folder / "resumed" / "clip.scstream")
        seconds["resume"] = perf_counter() - begin
        (self.folder / "seconds.json").write_text(json.dumps(seconds))
        return code

    def _write_sessions(self) -> None:
        finished = self.folder / "finished.scstream"
        shutil.copytree(self.session, finished)
        with Session.open(finished, writable=True) as session:
            first = sorted(session.record(0).events[0].ids)[0]
            session.names = Names({first: "ground"}, {first: (10, 20, 30)}, frozenset({first}))
            ids = [int(row["id"]) for row in session.statistics(0)]
            session.merges = [ResultMerge(frozenset(ids[:2]), ids[0])]
            session.bookmark = Bookmark(3, "overlay", frozenset(ids[:1]))
            session.add_measures({0: {"churn": 0.0, "uncertainty": 0.1}})
        record(self.folder / "interrupted.scstream", self.clip, INTERRUPTED)
        with Session.open(self.folder / "interrupted.scstream") as session:
            create_branch(session, self.folder / "branch.scstream", BranchPoint("interrupted", 8), Names())
            _record_live(self.folder / "recorded.scstream", list(session.results(0, 10)), self.clip)


def record(path: Path, clip_path: Path, count: int = FRAMES) -> None:
    """Record the first frames of the clip into a session, as an interrupted run if these are not all."""
    segmenter = SETTINGS.segmenter()
    with (
        open_source(str(clip_path)) as source,
        Session.create(path, source, SETTINGS, snapshot_every=EVERY) as session,
    ):
        for result in write_run(session, segment_frames(source, segmenter), segmenter):
            if result.index + 1 == count:
                break


def _record_live(path: Path, results: list[FrameResult], clip_path: Path) -> None:
    with open_source(str(clip_path)) as source:
        pictures = [frame.rgb for frame in source.frames(0, len(results))]
        facts = SourceFacts("camera:0", "Fake", source.width, source.height, 30.0, None, True)
    recorder = LiveRecorder(path, facts, SETTINGS, lambda result: None)
    for result, picture in zip(results, pictures, strict=True):
        recorder.put(_with_picture(result, picture))
    recorder.stop()
    assert recorder.join(20.0)


def _with_picture(result: FrameResult, picture: npt.NDArray[np.uint8]) -> FrameResult:
    from dataclasses import replace

    return replace(result, rgb=picture)


def finish(scene: Scene, sandbox: Sandbox, session: Path, outcome: Outcome) -> None:
    """Resume the session, or segment again if there is none, and compare the result with an uninterrupted run."""
    output = sandbox.root / "tmp" / "finish.log"
    again = not session.exists()

    def command() -> int:
        return scene.segment(session.parent) if again else scene.resume(session)

    code = forked(command, output)
    text = output.read_text(errors="replace").strip()
    if code < 0 or "Traceback" in text or "Unexpected" in text:
        outcome.fault("crashes", f"{'segment' if again else 'resume'} ended with {code}: {text[-500:]}")
    elif code:
        outcome.refused += 1
        # Whatever was interrupted can be resumed: a refusal here loses all frames.
        outcome.fault("lost_frames", f"refused: {text[-500:]}", FRAMES)
    else:
        outcome.opened += 1
        compare(scene, sandbox, session, outcome)


def compare(scene: Scene, sandbox: Sandbox, session: Path, outcome: Outcome) -> None:
    """Count frames that are missing, and those with other ids than an uninterrupted run gives."""
    output = sandbox.root / "tmp" / "compare.log"
    code = forked(lambda: _compare(scene, session), output)
    lines = output.read_text(errors="replace").split()
    if code or len(lines) != 2:
        outcome.fault("crashes", f"the resumed session cannot be read: {' '.join(lines)[-500:]}")
        return
    lost, wrong = map(int, lines)
    if lost:
        outcome.fault("lost_frames", f"{lost} frames are missing", lost)
    if wrong:
        outcome.fault("wrong_ids", f"{wrong} frames have other ids", wrong)


def _compare(scene: Scene, path: Path) -> int:
    expected = scene.ids
    with Session.open(path) as session:
        frames = set(session.frames.tolist())
        lost = len(set(range(len(expected))) - frames) + (not session.manifest.complete)
        wrong = sum(not np.array_equal(session.ids(index), expected[index]) for index in sorted(frames))
        for index in frames:
            session.statistics(index)
    print(lost, wrong)
    return 0
