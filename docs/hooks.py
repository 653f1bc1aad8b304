"""What MkDocs asks of this project while it builds the site: pages of folders, and the reference.

Reference pages are made from the public headers (tools/reference.py) and from the sources of the Python package
(tools/python_reference.py), and are not stored, so that they cannot say something else. What is missing fails the
build.
"""

import importlib.util
import pathlib

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

TOP = pathlib.Path(__file__).resolve().parent.parent


def on_config(config):
    """An entry of the navigation that is a folder stands for all its pages, in the order of their names."""
    for entry in config.nav:
        for title, target in entry.items():
            if isinstance(target, str) and target.endswith("/"):
                folder = TOP / "docs" / target
                entry[title] = [target + p.name for p in sorted(folder.glob("*.md"))]
    return config


def tool(name):
    """The module in tools of that name."""
    specification = importlib.util.spec_from_file_location(name, TOP / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def on_files(files, config):
    try:
        pages = tool("reference").pages() | {"python.md": tool("python_reference").page()}
    except ValueError as missing:
        raise PluginError(f"the reference is not complete:\n{missing}") from missing
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files
