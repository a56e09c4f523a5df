"""The examples in the documentation work as printed."""

import doctest
import re

import pytest

from helpers.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def python_blocks(text):
    """(line, code) of every fenced Python block."""
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "example"}
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        run_block(code, names, page, line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_are_alive(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_are_alive(page):
    text = page.read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", file):
            continue
        linked = (page.parent / file).read_text(encoding="utf-8") if file else text
        headings = re.findall(r"^#+ (.*)$", linked, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, f"{page.name} links to {file}#{anchor}"
