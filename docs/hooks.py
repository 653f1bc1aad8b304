"""What MkDocs asks of this project while it builds the site: folders, code from the examples, the reference pages.

A line `{{ examples/first.cpp plan }}` in a page becomes the code between `// [plan]` and `// [/plan]` in that file;
without a mark, the whole file without its marks. Reference pages are made from the public headers (tools/reference.py).
Nothing of either is stored, so that they cannot say something else than the code does; what is missing fails the build.
"""

import importlib.util
import pathlib
import re
import textwrap

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

TOP = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r"^\{\{ *(\S+)(?: +(\S+))? *\}\}$", re.MULTILINE)
MARK = re.compile(r"^ *// \[/?\w+\]\n", re.MULTILINE)


def on_config(config):
    """An entry of the navigation that is a folder stands for all its pages, in the order of their names."""
    for entry in config.nav:
        for title, target in entry.items():
            if isinstance(target, str) and target.endswith("/"):
                folder = TOP / "docs" / target
                entry[title] = [target + p.name for p in sorted(folder.glob("*.md"))]
    return config


def code_between(name: str, mark: str | None, page: str) -> str:
    path = TOP / name
    if not path.is_file():
        raise PluginError(f"{page}: there is no {name}")
    text = path.read_text()
    if mark is not None:
        found = re.findall(rf"^ *// \[{mark}\]\n(.*?)^ *// \[/{mark}\]\n", text, re.MULTILINE | re.DOTALL)
        if len(found) != 1:
            raise PluginError(f"{page}: {name} has {len(found)} parts between [{mark}] and [/{mark}]")
        text = found[0]
    return textwrap.dedent(MARK.sub("", text)).strip("\n")


def on_page_markdown(markdown, page, **_):
    def included(match):
        return "```cpp\n" + code_between(match.group(1), match.group(2), page.file.src_uri) + "\n```"

    return INCLUDE.sub(included, markdown)


def on_files(files, config):
    specification = importlib.util.spec_from_file_location("reference", TOP / "tools" / "reference.py")
    reference = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(reference)
    try:
        pages = reference.pages()
    except ValueError as missing:
        raise PluginError(f"the reference is not complete:\n{missing}") from missing
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files
