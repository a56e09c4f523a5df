"""Completion by the shell, through the variables that the scripts of the shells set."""

from __future__ import annotations

import pytest

from scstream_app import cli


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def complete(line: str, shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the program answers when the user presses Tab at the end of the line."""
    monkeypatch.setenv("_SCSTREAM_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert cli.main([]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "expected", "absent"),
    [
        ("scstream se", "segment", "resume"),
        ("scstream bench st", "streams", "video"),
        ("scstream segment --fo", "--formats", "--out"),
        ("scstream export s --remo", "--remove-object", "--formats"),
        ("scstream segment clip.mp4 --formats ov", "overlay", "ids"),
        ("scstream segment clip.mp4 --formats ids,ov", "ids,overlay", "coco"),
        ("scstream export s --formats ids,i", "", "ids,ids"),
        ("scstream segment clip.mp4 --palette s", "safe", "vivid"),
        ("scstream export s --view mean", "mean_colour", "overlay"),
        ("scstream segment clip.mp4 --colour l", "lab", "rgb"),
        ("scstream export s --existing sk", "skip", "replace"),
    ],
)
def test_commands_options_and_values(
    line: str,
    expected: str,
    absent: str,
    shell: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = complete(line, shell, monkeypatch, capsys)
    assert expected in answer
    assert absent not in answer


def test_views_of_a_movie(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer = complete("scstream segment clip.mp4 --formats ids,mp4:mean", "fish", monkeypatch, capsys)
    assert answer == "ids,mp4:mean_colour\n"
