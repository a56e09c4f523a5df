"""The values that help texts list are those that the program has."""

from __future__ import annotations

import pkgutil

from scstream.pixels.colour import COLOURS
from scstream.pixels.parameters import MAX_SMOOTHING, MAX_STEADINESS
from scstream.sampler.forgetting import KERNELS
from scstream_app import export, headless, option_values
from scstream_app.render.palette import PALETTES
from scstream_app.render.views import VIEWS
from scstream_app.settings import SPECS


def test_formats_views_and_palettes() -> None:
    assert option_values.FORMATS == tuple(export.FORMATS), "add a new format to scstream_app/option_values.py"
    assert option_values.VIEWS == tuple(name for name, view in VIEWS.items() if "uncertainty" not in view.needs)
    assert option_values.PALETTES == tuple(PALETTES)


def test_settings_have_the_limits_of_the_engine() -> None:
    assert (SPECS["smoothing"].high, SPECS["steadiness"].high) == (MAX_SMOOTHING, MAX_STEADINESS)
    assert set(SPECS["colour"].choices) == set(COLOURS)
    assert set(SPECS["kernel"].choices) == set(KERNELS)


def test_no_job_has_the_name_of_a_module() -> None:
    # Importing a module would replace the job, which is loaded on first use.
    modules = {module.name for module in pkgutil.iter_modules(headless.__path__)}
    assert modules.isdisjoint(headless.__all__)
    assert all(callable(getattr(headless, name)) for name in headless.__all__)
