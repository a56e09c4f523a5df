"""The table of settings: what it refuses and why, and that every entry reaches the engine."""

from __future__ import annotations

import inspect
import json
import math
from typing import Any

import pytest

from helpers.settings import OTHER
from scstream import VideoSegmenter
from scstream_app.errors import SettingsError, StudioError
from scstream_app.settings import PRESETS, SPECS, Settings, remembered_frames


def test_defaults_are_those_of_the_engine() -> None:
    parameters = inspect.signature(VideoSegmenter).parameters
    values = Settings().as_dict()
    for name, parameter in parameters.items():
        # To the engine no seed means 0.
        assert values.pop(name) == (0 if name == "seed" else parameter.default), name
    assert values == {"scene_cuts": True}


def test_every_setting_reaches_the_engine() -> None:
    assert OTHER.keys() == SPECS.keys()
    segmenter = Settings(**OTHER).segmenter()
    parameters = segmenter.parameters
    assert {name: getattr(parameters, name) for name in OTHER if name != "scene_cuts"} == {
        name: value for name, value in OTHER.items() if name != "scene_cuts"
    }


def test_they_come_back_from_json() -> None:
    settings = Settings(**OTHER)
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings
    assert Settings.from_dict({}) == Settings()
    assert Settings.from_dict({"alpha": 5}).alpha == 5.0


def test_threads_do_not_determine_the_result() -> None:
    assert Settings(threads=1).portable() == Settings(threads=8).portable()
    assert "threads" not in Settings().portable()
    assert Settings(seed=1).portable() != Settings().portable()


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("colour", "cmyk", "one of rgb, lab"),
        ("colour", 1, "one of rgb, lab"),
        ("scale", 0.0, "above 0 and at most 1"),
        ("scale", 1.5, "above 0 and at most 1"),
        ("scale", "1", "a number"),
        ("scale", True, "a number"),
        ("alpha", 0, "at least 1e-300"),
        ("alpha", math.nan, "a number"),
        ("alpha", math.inf, "at most 1e+300"),
        ("alpha", 10**400, "at most 1e+300"),
        ("decay", -1.0, "at least 0"),
        ("decay", None, "a number"),
        ("smoothing", 10.5, "at least 0 and at most 10"),
        ("steadiness", -0.1, "at least 0 and at most 2"),
        ("sweeps", 1.5, "a whole number"),
        ("sweeps", True, "a whole number"),
        ("seed", -1, "at least 0"),
        ("threads", 0, "or none"),
        ("scene_cuts", 1, "true or false"),
        ("restart", -1, "never after the first frame"),
        ("merge", "mine", "one of original, paper"),
        ("kernel", "cosine", "one of exponential, rbf, window"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(name: str, value: Any, wanted: str) -> None:
    for make in (lambda: Settings(**{name: value}), lambda: Settings.from_dict({name: value})):
        with pytest.raises(SettingsError) as caught:
            make()
        assert str(caught.value).startswith(f"{name} must be ")
        assert wanted in str(caught.value)
        assert repr(value) in str(caught.value)
        assert isinstance(caught.value, StudioError)


@pytest.mark.parametrize("values", [{"aplha": 1.0}, {"alpha": 1.0, "__class__": "x"}, [1], None, "alpha", {3: 4}])
def test_what_is_no_setting_is_refused(values: Any) -> None:
    with pytest.raises(SettingsError, match="setting"):
        Settings.from_dict(values)


def test_every_default_and_preset_is_allowed() -> None:
    for preset in PRESETS:
        assert SPECS.keys() >= preset.values.keys()
        settings = preset.apply(Settings(seed=4, threads=2, decay=0.7))
        assert (settings.seed, settings.threads) == (4, 2)
        assert {name: getattr(settings, name) for name in preset.values} == dict(preset.values)
        assert settings.decay == preset.values.get("decay", Settings().decay)
        settings.segmenter()


def test_the_table_says_all_that_a_dialog_needs() -> None:
    flags = [spec.flag for spec in SPECS.values()]
    assert len(set(flags)) == len(flags)
    for name, spec in SPECS.items():
        assert spec.flag == f"--{name.replace('_', '-')}"
        assert spec.label
        assert spec.help.endswith(".")
        assert spec.group in ("basic", "advanced")
        assert bool(spec.choices) == (spec.kind == "choice")
        assert math.isfinite(spec.low) == math.isfinite(spec.high) == (spec.kind in ("number", "integer"))
    assert [preset.name for preset in PRESETS] == ["Paper", "Live", "Fine", "Coarse"]


def test_memory_in_frames() -> None:
    assert remembered_frames(0.0, 0.0) == remembered_frames(0.0, 2.0) == math.inf
    assert remembered_frames(1.0, 0.0) == 2.0
    assert remembered_frames(100.0, 0.0) == 1.0
    # With a steadiness of 1 the past is forgotten four times more slowly.
    assert remembered_frames(4.0, 1.0) == remembered_frames(16.0, 2.0) == 2.0
