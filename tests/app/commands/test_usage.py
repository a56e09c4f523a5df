"""Wrong usage, help and version."""

import re

import pytest

from helpers.command_line import segment
from scstream_app import __version__, cli
from scstream_app.commands import COMMANDS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "-1"], r"'--alpha': must be a number, .*, got -1\.0"),
        (["--scale", "0"], r"'--scale': must be a number, above 0 and at most 1, got 0\.0"),
        (["--scale", "half"], "'--scale': .*'half'"),
        (["--seed", "1.5"], r"'--seed': .*'1\.5'"),
        (["--sweeps", "-2"], r"'--sweeps': must be a whole number, .*, got -2"),
        (["--threads", "0"], r"'--threads': must be a whole number, .*, got 0"),
        (["--seed", "-1"], r"'--seed': must be a whole number, .*, got -1"),
        (["--steadiness", "3"], r"'--steadiness': must be a number, at least 0 and at most 2, got 3\.0"),
        (["--decay", "nan"], r"'--decay': must be a number, .*, got nan"),
        (["--burn-in", "-1"], "'--burn-in': must be a whole number"),
        (["--restart", "soon"], "'--restart': must be a whole number or none, got 'soon'"),
        (["--formats", "ids,bmp"], "unknown format 'bmp'"),
        (["--formats", "ids:overlay"], "'ids' is not a movie"),
        (["--formats", "mp4:nope"], "Unknown view 'nope'"),
        (["--formats", "mp4:uncertainty"], "results hold no uncertainty"),
        (["--pattern", "frame"], "must contain {frame}"),
        (["--colour", "cmyk"], "cmyk"),
        (["--frames", "5:5"], "B must be greater than A; got '5:5'"),
        (["--frames", "first"], "got 'first'"),
        (["--frames", "-3:"], "got '-3:'"),
        (["--frames", "9" * 5000 + ":"], "'--frames': must be at most 2147483647, got '99999"),
        (["--frames", ":2147483648"], "'--frames': must be at most"),
        (["--seed", "9" * 5000], "--seed"),
        (["--threads", "9" * 5000], "--threads"),
        (["--pattern", "{frame:999999999d}"], "more than 64 digits"),
        (["--pattern", "{frame:{frame}}"], "field within a field"),
        (["--pattern", "{frame}{shot}"], "a pattern knows {frame}, {time}, {name}; .* has the field {shot}"),
        (["--pattern", "{frame}" + "x" * 300], "makes names of 306 bytes, and 200 are the most"),
        (["--nonsense"], "No such option '--nonsense'"),
        (["--fromats", "ids"], "No such option '--fromats'. Did you mean '--formats'?"),
        (["--format", "ids"], "No such option '--format'"),
        (["--palette", "grey"], "palette must be one of vivid, safe, got 'grey'"),
        (["--view", "nope"], "view must be one of .*, got 'nope'"),
    ],
)
def test_wrong_usage(clip, tmp_path, capsys, options, message):
    assert segment(clip, tmp_path / "out", *options) == 2
    captured = capsys.readouterr()
    assert re.search(message, captured.err)
    assert captured.err.count("\n") == 1
    assert len(captured.err) < 600
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["segment", "clip.mp4"], "Missing option '--out'"),
        (["bench"], "Missing command. See 'scstream bench --help'"),
        (["bench", "vido"], "No such command 'vido'. Did you mean 'video'?"),
        (["--vesion"], "No such option '--vesion'. Did you mean '--version'?"),
        (["export", "s", "-o", "e", "--formats", "ids", "--scale", "inf"], "'--scale': must be a number, above 0"),
        (["evaluate", "a", "b", "--void", "9999999999"], "'--void': must be a whole number, at least -2147483648"),
        (["bench", "streams", "--seeds", "-1"], "'--seeds': must be a whole number, at least 1"),
        (["bench", "streams", "--alpha", "nan"], "'--alpha': must be a number"),
        (["bench", "streams", "--decay", "1e9"], "'--decay': must be a number"),
        (["bench", "streams", "--psi", "-1"], "'--psi': must be a number"),
    ],
)
def test_wrong_usage_of_other_commands(capsys, words, message):
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_help_is_no_error(capsys):
    assert cli.main(["--help"]) == 0
    long = capsys.readouterr().out
    assert "--install-completion" in long
    assert all(name in long for name in COMMANDS)
    assert cli.main(["-h"]) == 0
    assert capsys.readouterr().out == long


@pytest.mark.parametrize("command", [*(name for name in COMMANDS if name != "bench"), "bench video"])
def test_every_command_has_help(capsys, command):
    assert cli.main([*command.split(), "-h"]) == 0
    assert f"scstream {command} " in capsys.readouterr().out


def test_help_shows_examples_one_on_a_line(capsys):
    assert cli.main(["segment", "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "scstream segment clip.mp4 --out results" in lines
    assert "scstream segment camera:0 --out results --frames :300" in lines


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"scstream {__version__}\n"
