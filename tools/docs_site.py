"""MkDocs hook: pages of the documentation site that are made from files outside docs/ or from the code.

README.md becomes the home page; the other pages come from CONTRIBUTING.md, SECURITY.md, CHANGELOG.md, the examples,
the sample clips and the command. Links between files work on GitHub and in the site: here they are converted from the
first to the second. `make docs` fails on a dead link, and on a page that would load anything from another server.
"""

from __future__ import annotations

import ast
import inspect
import json
import posixpath
import re
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

ROOT = Path(__file__).resolve().parents[1]
#: Pages of the site (left) and the files of the repository that they are made from.
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "changelog.md": "CHANGELOG.md",
    "examples.md": "examples/README.md",
    "sample_videos.md": "sample_videos/README.md",
}
ICON = "assets/icon.svg"

_LINK = re.compile(r"(\]\()([^)\s#]*)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_BOLD = re.compile(r"\[bold\](.*?)\[/\]")
_LOADED = re.compile(
    r"""<(?:script|img|iframe|link(?=[^>]*rel="?stylesheet))[^>]*?(?:src|href)="?(?:https?:)?//[^>]*>"""
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the icon."""
    for uri, path in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        if uri == "examples.md":
            text += example_sections(text)
        files.append(File.generated(config, uri, content=text))
    files.append(File.generated(config, "icon.svg", abs_src_path=str(ROOT / ICON)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Convert the links of a page from places in the repository to places in the site; add the help of the command."""
    uri = page.file.src_uri
    if uri == "command.md":
        markdown += command_reference()
    folder = posixpath.dirname(PAGES.get(uri, f"docs/{uri}"))

    def convert(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        if not target or ":" in target:
            return match[0]
        return before + _site_link(posixpath.normpath(posixpath.join(folder, target)), uri, config) + after

    # Every other part is a block of code.
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(convert, part) for part in parts[::2]]
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page loads a script, a style or a picture from another server."""
    for page in Path(config.site_dir).rglob("*.html"):
        loaded = _LOADED.search(page.read_text(encoding="utf-8"))
        if loaded:
            raise PluginError(f"{page.relative_to(config.site_dir)} loads from another server: {loaded[0]}")


def command_reference() -> str:
    """Return the help of the command `scstream` and of its subcommands as sections of a page."""
    from scstream_app.cli import app
    from scstream_app.commands import COMMANDS

    command = typer.main.get_command(app)
    for name in COMMANDS:
        command.load(name)
    context = typer.Context(command, info_name="scstream")
    text = get_docs_for_click(obj=command, ctx=context, name="scstream", indent=1)
    # The list of commands shortens their descriptions; the page has a table of contents.
    text = re.sub(r"^\*\*Commands\*\*:\n\n(\*.*\n)+", "", text, flags=re.MULTILINE)
    return "\n" + _BOLD.sub(r"`\1`", text)


def example_sections(readme: str) -> str:
    """Return a section for each example that the README of the examples lists."""
    sections = []
    for name in re.findall(r"^\| \[([\w.]+)\]", readme, re.MULTILINE):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        body = _script(text) if name.endswith(".py") else "".join(map(_cell, json.loads(text)["cells"]))
        sections.append(f"\n## {name}\n\n{body}")
    return "".join(sections)


def _script(text: str) -> str:
    """Return a script as Markdown: its docstring as text, the rest as a block of code."""
    docstring = ast.parse(text).body[0]
    code = "\n".join(text.splitlines()[docstring.end_lineno :]).strip()
    return f"{inspect.cleandoc(ast.literal_eval(docstring.value))}\n\n```python\n{code}\n```\n"


def _cell(cell: dict[str, Any]) -> str:
    """Return a cell of a notebook as Markdown, its headings two levels below those of a page."""
    text = "".join(cell["source"])
    if cell["cell_type"] == "code":
        return f"\n```python\n{text}\n```\n"
    return "\n" + re.sub("^#", "###", text, flags=re.MULTILINE) + "\n"


def _site_link(path: str, uri: str, config: MkDocsConfig) -> str:
    """Return the link from the page ``uri`` to a file of the repository: in the site, or else on GitHub."""
    page = {file: page for page, file in PAGES.items()}.get(path)
    if page is None and path.startswith("docs/"):
        page = path.removeprefix("docs/")
    if page is not None:
        return posixpath.relpath(page, posixpath.dirname(uri) or ".")
    if path.startswith("examples/") and uri == "examples.md":
        return "#" + posixpath.basename(path).replace(".", "")
    if not (ROOT / path).exists():
        raise PluginError(f"{uri} links to {path}, which does not exist")
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{config.extra['repository']}/{kind}/main/{path}"
