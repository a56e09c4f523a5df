"""Interrupted runs, and `scstream resume`."""

import json
import os
import re
import select
import signal
import subprocess
import sys

import numpy as np
import pytest

from helpers.clips import leftovers, moving_square, read_video
from helpers.command_line import environment, ids_in, segment
from helpers.fake_source import FakeSource
from helpers.paths import ROOT
from scstream_app import cli
from scstream_app.commands import segment as segment_command
from scstream_app.session import Session
from scstream_app.sources import STDIN


def interrupt_at(monkeypatch, frame, number=signal.SIGINT):
    """Press Ctrl-C, or send another signal, when the frame is being written."""
    append = Session.append

    def interrupted(self, result):
        append(self, result)
        if result.index == frame:
            signal.raise_signal(number)

    monkeypatch.setattr(Session, "append", interrupted)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interruption_keeps_whole_frames(clip, tmp_path, capsys, monkeypatch, name):
    interrupt_at(monkeypatch, 2, getattr(signal, name))
    assert segment(clip, tmp_path / "out", "--quiet") == {"SIGINT": 130, "SIGTERM": 143}[name]
    session = tmp_path / "out" / "clip.scstream"
    assert capsys.readouterr().err == f"Interrupted after 3 frames. Resume with: scstream resume {session}\n"
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 3
    assert len(ids_in(tmp_path / "out")) == 3
    assert not leftovers(tmp_path)


def test_resume_ends_as_if_never_interrupted(clip, tmp_path, monkeypatch):
    assert segment(clip, tmp_path / "unbroken", "--quiet") == 0
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        assert segment(clip, tmp_path / "out", "--quiet") == 130
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--quiet"]) == 0
    broken, unbroken = ids_in(tmp_path / "out"), ids_in(tmp_path / "unbroken")
    assert list(broken) == list(unbroken)
    for name, ids in unbroken.items():
        np.testing.assert_array_equal(broken[name], ids)
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 6
    table = (tmp_path / "out" / "segments.csv").read_text()
    assert table == (tmp_path / "unbroken" / "segments.csv").read_text()


def test_resume_keeps_to_the_names_that_were_asked_for(clip, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        assert segment(clip, tmp_path / "out", "--quiet", "--formats", "ids", "--pattern", "f{frame}") == 130
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--quiet"]) == 0
    assert list(ids_in(tmp_path / "out")) == [f"f{n}.png" for n in range(6)]


def test_resume_of_a_moved_source(clip, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        segment(clip, tmp_path / "out", "--quiet")
    capsys.readouterr()
    moved = clip.rename(tmp_path / "moved.mp4")
    session = str(tmp_path / "out" / "clip.scstream")
    assert cli.main(["resume", session, "--quiet"]) == 1
    assert "clip.mp4" in capsys.readouterr().err
    assert cli.main(["resume", session, "--quiet", "--source", str(moved)]) == 0


def test_resume_of_a_finished_session_only_writes_files(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    (tmp_path / "out" / "ids" / "00003.png").unlink()
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["frames"], report["frames_in_session"]) == (0, 6)
    assert len(ids_in(tmp_path / "out")) == 6


def test_resume_says_what_it_did(clip, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 1)
        assert segment(clip, tmp_path / "out", "--quiet", "--formats", "ids,npz") == 130
    session = str(tmp_path / "out" / "clip.scstream")
    capsys.readouterr()
    assert cli.main(["resume", session]) == 0
    assert "4 new frames, 6 in all, of 64 x 48" in capsys.readouterr().out
    assert cli.main(["resume", session]) == 0
    with Session.open(session) as opened:
        segments = len(opened.statistics(5))
    assert capsys.readouterr().out == f"Already complete: 6 frames, {segments} segments; files written: ids, npz\n"


@pytest.mark.parametrize("threads", ["0", "-1", "9" * 5000])
def test_resume_checks_threads(tmp_path, capsys, threads):
    assert cli.main(["resume", str(tmp_path / "none.scstream"), "--threads", threads]) == 2
    assert "threads" in capsys.readouterr().err


def test_interruption_before_the_first_frame(clip, tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)
        yield from ()

    monkeypatch.setattr("scstream_app.headless.segment_job.segment_frames", interrupted)
    assert segment(clip, tmp_path / "out", "--quiet") == 130
    assert capsys.readouterr().err == "Interrupted before the first frame was finished. Nothing was written.\n"


def test_interruption_of_a_live_source(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(segment_command, "open_given", lambda *given: FakeSource(moving_square(5), live=True))
    interrupt_at(monkeypatch, 1)
    assert segment("camera:0", tmp_path / "out", "--formats", "ids", "--quiet") == 130
    assert capsys.readouterr().err.endswith(" They are saved, but a live source cannot be resumed.\n")


def test_interruption_of_standard_input(tmp_path, capsys, monkeypatch):
    source = FakeSource(moving_square(5), live=True)
    source.address = STDIN
    monkeypatch.setattr(segment_command, "open_given", lambda *given: source)
    interrupt_at(monkeypatch, 1)
    assert segment("-", tmp_path / "out", "--formats", "ids", "--quiet") == 130
    assert capsys.readouterr().err == (
        "Interrupted after 2 frames. They are saved. What followed on standard input is lost, so the session cannot be "
        "resumed.\n"
    )


def test_resume_says_what_was_found_damaged(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    session = tmp_path / "out" / "clip.scstream"
    (session / "names.json").write_text("{")
    assert cli.main(["resume", str(session), "--quiet"]) == 0
    assert "names.json" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["resume"], ["export", "--formats", "npz", "--out", "OUT"], ["info"]])
def test_the_folder_of_one_session_stands_for_it(clip, tmp_path, capsys, command):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    words = [command[0], str(tmp_path / "out"), *command[1:]]
    words = [str(tmp_path / "e") if word == "OUT" else word for word in words]
    assert cli.main(words) == 0
    (tmp_path / "out" / "clip.scstream").rename(tmp_path / "out" / "a.scstream")
    assert cli.main([words[0], str(tmp_path / "out" / "a"), *words[2:]]) == 1
    assert f"Did you mean '{tmp_path / 'out' / 'a.scstream'}'?" in capsys.readouterr().err
    (tmp_path / "out" / "b.scstream").mkdir()
    assert cli.main(words) == 1
    assert "Did you mean" in capsys.readouterr().err


def on_screen(screen):
    """What a program writes to its terminal, as it comes, until it has ended."""
    while select.select([screen], [], [], 300)[0]:
        try:
            text = os.read(screen, 4096)
        except OSError:
            # Linux reports a closed terminal with this error.
            return
        if not text:
            return
        yield text
    pytest.fail("nothing was written for minutes")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_control_c(tmp_path):
    import pty

    sample = str(ROOT / "sample_videos" / "kite_surf.mp4")
    command = [sys.executable, "-m", "scstream_app", "segment", sample, "--out", str(tmp_path / "out")]
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        command,
        env={**environment(), "TERM": "xterm", "COLUMNS": "120"},
        stderr=terminal,
        # Where the tests themselves run in the background, Ctrl-C is ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(terminal)
    shown = b""
    for text in on_screen(screen):
        shown += text
        # The bar counts frames.
        if process.poll() is None and re.search(rb"(?<!\d)([4-9]|\d\d)/80\b", shown):
            process.send_signal(signal.SIGINT)
            break
    shown += b"".join(on_screen(screen))
    os.close(screen)
    assert process.wait(60) == 130
    assert b"Traceback" not in shown
    assert 3 <= len(read_video(tmp_path / "out" / "overlay.mp4")) < 80
    assert not leftovers(tmp_path / "out")
