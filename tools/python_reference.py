#!/usr/bin/env python3
"""The reference page of the Python package, made from its sources: docstrings, and the texts in bindings/python/src.

Nothing is imported, so that the page can be made where nothing is built. Public are the names in `__all__` of the
package and of its modules whose names have no underscore. What is public and has no text is an error.

    tools/python_reference.py         lists what is undocumented; exits with 1 if there is any
    tools/python_reference.py FILE    writes the page there as well
"""

import ast
import inspect
import pathlib
import re
import sys
from collections.abc import Iterator

TOP = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = TOP / "bindings/python/weft"
EXTENSION = TOP / "bindings/python/src"
INTRODUCTION = """# The Python package

[Python](../python.md) introduces the package, and [From scipy.fft](../from-scipy.md) says what differs from SciPy.
Shapes are NumPy's. Strides are in bytes where NumPy has them, and in elements where they are given to a
`Distribution`. Everything that Weft finds wrong is a `weft.Error`. "Collective" means that all ranks have to call it,
in the same order; everything else is local.
"""
# Which names come first, under which heading. All others follow.
FIRST = {
    "Plans": "Plan Distribution Box Comm ThreadTeam Error",
    "What plans tell": "Explanation Candidate OperationTime Accuracy",
    "Whole arrays": "fftn ifftn fft ifft fft2 ifft2 rfftn irfftn rfft irfft rfft2 irfft2 hfftn ihfftn hfft ihfft hfft2 "
    "ihfft2 dctn idctn dct idct dstn idstn dst idst",
    "What is kept, and facts": "clear_cache limit_cache export_wisdom import_wisdom forget_wisdom options built_with "
    "device_count",
}


class Source:
    """A module of the package: its definitions, and from where it has the others."""

    def __init__(self, path: pathlib.Path) -> None:
        self.tree = ast.parse(path.read_text())
        self.definitions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        self.imported: dict[str, tuple[str, str]] = {}
        self.made: dict[str, ast.Call] = {}
        self.public: list[str] = []
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    self.imported[name.asname or name.name] = (node.module or "", name.name)
            elif isinstance(node, ast.Assign):
                self.assigned(node.targets[0], node.value)

    def assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=True):
                self.assigned(one, its)
        elif isinstance(target, ast.Name) and target.id == "__all__":
            self.public = ast.literal_eval(value)
        elif isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self.made[target.id] = value


def sources() -> dict[str, Source]:
    """The modules by their full names; of a package its __init__."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = [*path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(["weft", *(p for p in parts if p != "__init__")])] = Source(path)
    return found


def signature(name: str, node: ast.FunctionDef) -> str:
    """As one writes a call: without types, which the texts have."""
    arguments = node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    if arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments.args.pop(0)
    return f"{name}({ast.unparse(arguments)})"


def markdown(text: str) -> str:
    """A docstring as Markdown: examples are code, and what follows a heading with a line under it is a list."""
    blocks = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = block.split("\n")
        if lines[0].startswith(">>>"):
            lines = [re.sub(r"\s+# doctest:.*", "", line) for line in lines if line != "<BLANKLINE>"]
            blocks.append("\n".join(["```pycon", *lines, "```"]))
        elif len(lines) > 1 and set(lines[1]) == {"-"}:
            blocks.append(f"**{lines[0]}**")
            rest = "\n".join(lines[2:])
            if rest.startswith(">>>"):
                blocks.append(markdown(rest))
            else:
                items = re.sub(r"\n\s+", " ", rest).split("\n")
                blocks.append("\n".join(re.sub(r"^([\w*, ]+?) : ", r"- `\1`: ", item) for item in items if item))
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


class Page:
    """The page as it grows, and what was found undocumented."""

    def __init__(self) -> None:
        self.sources = sources()
        self.extension = dict(bound())
        self.text: list[str] = [INTRODUCTION]
        self.missing: list[str] = []

    def entry(self, level: int, title: str, text: str | None) -> None:
        if not text:
            self.missing.append(title)
        self.text.append(f"{'#' * level} `{title}`\n\n{markdown(text or '')}\n")

    def add(self, module: str, name: str) -> None:
        """The entry of a public name of a module, wherever it is defined."""
        source = self.sources[module]
        if name in source.imported:
            origin, original = source.imported[name]
            if f"{origin}.{original}" in self.sources:
                return  # a module, which has a part of its own
            if origin.endswith("._core"):
                self.bound(original)
            else:
                self.add(origin, original)
        elif isinstance(source.definitions.get(name), ast.ClassDef):
            self.python_class(source, source.definitions[name])
        elif name in source.definitions:
            node = source.definitions[name]
            self.entry(3, signature(name, node), ast.get_docstring(node))
        elif name in source.made:
            self.entry(3, *made_function(source, name))
        else:
            self.missing.append(f"{module}.{name}")

    def python_class(self, source: Source, node: ast.ClassDef) -> None:
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        self.entry(3, node.name if init is None else signature(node.name, init), ast.get_docstring(node))
        self.members(source, node)

    def members(self, source: Source, node: ast.ClassDef) -> None:
        """Of the class, then of those of ours that it is derived from."""
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                marks = {ast.unparse(d).split(".")[-1] for d in member.decorator_list}
                if "setter" in marks or "overload" in marks:
                    continue
                title = member.name if marks & {"property", "cached_property"} else signature(member.name, member)
                self.entry(4, f"{node.name}.{title}" if "classmethod" in marks else title, ast.get_docstring(member))
        for base in node.bases:
            if isinstance(base, ast.Name) and source.imported.get(base.id, ("",))[0].startswith("weft."):
                module, name = source.imported[base.id]
                self.members(self.sources[module], self.sources[module].definitions[name])

    def bound(self, name: str) -> None:
        for level, title, text in self.extension.get(name, [(3, name, "")]):
            self.entry(level, title, text)


def made_function(source: Source, name: str) -> tuple[str, str]:
    """Of a function that a call `maker("name", other)` makes: the signature of the maker's inner function, and the text
    that it gives to it."""
    call = source.made[name]
    maker = source.definitions[call.func.id]
    inner = next(n for n in maker.body if isinstance(n, ast.FunctionDef))
    text = next(n for n in maker.body if isinstance(n, ast.Return)).value.args[2]
    words = [v.value if isinstance(v, ast.Constant) else call.args[1].id for v in text.values]
    return signature(name, inner), "".join(words)


# A definition of nanobind: .def("name", ..., arg("axis"), "text").
_BOUND = re.compile(r"(nanobind::class_<\w+>\s*\(|\bmodule\.def\(|\.def\w*\()")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def bound() -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    """Each class and function of the extension, with the level, title and text of its entries."""
    for path in sorted(EXTENSION.glob("*.cpp")):
        entries: list[tuple[int, str, str]] = []
        source = path.read_text()
        for found in _BOUND.finditer(source):
            inside = source[found.end() : closing(source, found.end())]
            kind = found[1]
            name = re.match(r'\s*(?:module,)?\s*"(\w+)"', inside)
            if name is None:  # a constructor
                continue
            text = last_text(inside[name.end() :])
            arguments = ", ".join(re.findall(r'\barg\("(\w+)"\)', inside))
            if kind.startswith("nanobind"):
                entries = [(3, name[1], text)]
                yield name[1], entries
            elif kind.startswith("module"):
                yield name[1], [(3, f"{name[1]}({arguments})", text)]
            elif entries and not name[1].startswith("_"):
                called = ".def(" in kind or "static" in kind
                owner = f"{entries[0][1]}." if "static" in kind else ""
                entries.append((4, f"{owner}{name[1]}({arguments})" if called else name[1], text))


def closing(source: str, start: int) -> int:
    """Where the parenthesis that is open at `start` is closed."""
    depth, position = 1, start
    while depth:
        literal = _TEXT.match(source, position)
        if literal:
            position = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(source[position], 0)
        position += 1
    return position - 1


def last_text(inside: str) -> str:
    """The literals at the end of a definition or between its other arguments, joined; "" if there are none."""
    plain = re.sub(r"\[[^\]]*\]\s*\([^)]*\)\s*\{.*\}", "", inside, flags=re.DOTALL)  # lambdas
    plain = re.sub(r'\barg\("\w+"\)', "", plain)
    return "".join(_TEXT.findall(plain)).replace('\\"', '"').replace("\\n", "\n")


def page() -> str:
    """The page. Raises ValueError with a line for everything public that has no text."""
    made = Page()
    public = [n for n in made.sources["weft"].public if not n.startswith("__")]
    listed = [n for names in FIRST.values() for n in names.split()]
    headings = FIRST | {"More": " ".join(n for n in public if n not in listed)}
    for heading, names in headings.items():
        chosen = [n for n in names.split() if n in public]
        made.missing += [f"{n}, which is not public" for n in names.split() if n not in public]
        if chosen:
            made.text.append(f"## {heading}\n")
        for name in chosen:
            made.add("weft", name)
    for module, source in made.sources.items():
        if module != "weft" and not any(part.startswith("_") for part in module.split(".")):
            text = ast.get_docstring(source.tree)
            made.text.append(f"## `{module}`\n\n{markdown(text or '')}\n")
            for name in source.public:
                made.add(module, name)
    if made.missing:
        raise ValueError("\n".join(f"weft: {what} is not documented" for what in made.missing))
    return "\n".join(made.text)


def main() -> int:
    try:
        text = page()
    except ValueError as missing:
        print(missing, file=sys.stderr)
        return 1
    for file in sys.argv[1:]:
        pathlib.Path(file).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
