"""The documentation is true: its examples work as printed, its links are alive, and the files that it names exist."""

import doctest
import re
from importlib import import_module

import pytest

from helpers.paths import ROOT
from scstream.components import BY_NAME

PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "engine" / "README.md",
    ROOT / "examples" / "README.md",
    ROOT / "sample_videos" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def python_blocks(text):
    """(line, code) of every block fenced as ``python``; one fenced as ``py`` needs what only its reader has."""
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(1)), match[1]


def run_block(code, names, page, line):
    """A block with prompts is checked against what it prints; any other one must simply run."""
    if not code.lstrip().startswith(">>>"):
        exec(compile("\n" * line + code, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    failed, _ = runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert failed == 0, "".join(report)


def documented_names(text):
    """Names whose docstrings the site shows on a page."""
    return re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)


@pytest.fixture
def own_components():
    """Forget the components that an example defines: other tests use the same names."""
    known = dict(BY_NAME)
    yield
    BY_NAME.clear()
    BY_NAME.update(known)


@every_page
@pytest.mark.usefixtures("own_components")
def test_python_examples_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "example"}
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        run_block(code, names, page, line)


@every_page
def test_links_to_files_are_alive(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@every_page
def test_links_to_headings_are_alive(page):
    text = page.read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", file):
            continue
        linked = (page.parent / file).read_text(encoding="utf-8") if file else text
        headings = re.findall(r"^#+ (.*)$", linked, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        anchors |= set(documented_names(linked))
        assert anchor in anchors, f"{page.name} links to {file}#{anchor}"


# --- the site


def test_every_page_is_in_the_navigation_of_the_site():
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    listed = set(re.findall(r"^ +- .*: ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert pages <= listed
    # The rest are pages that tools/docs_site.py makes.
    assert listed - pages == {
        "changelog.md",
        "contributing.md",
        "examples.md",
        "index.md",
        "sample_videos.md",
        "security.md",
    }


def test_the_reference_names_everything_public():
    texts = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
    names = [name for text in texts for name in documented_names(text)]
    for name in names:
        module, _, last = name.rpartition(".")
        assert (getattr(import_module(module), last, None) or import_module(name)).__doc__
    shown = {name.rpartition(".")[2] for name in names}
    assert set(import_module("scstream").__all__) - {"__version__"} <= shown
    assert set(import_module("scstream.metrics").__all__) - {"Flow", "IdMap", "Mask"} <= shown


# --- files for contributors


def test_contributing_names_targets_and_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make ([a-z-]+)`", text))
    assert targets >= {"run", "test", "lint", "format", "docs"}
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path in re.findall(r"`((?:scstream_app|engine|tests|tools|examples|docs)/[\w/.]*)`", text):
        assert (ROOT / path.replace("NAME.py", "")).exists(), path


def test_pre_commit_runs_the_tools_of_make_lint():
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"entry: \.venv/bin/(\S+)", hooks)) == set(re.findall(r"\$\(BIN\)/(\S+)", lint))
