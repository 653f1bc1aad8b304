#!/usr/bin/env python3
"""The reference pages of the site, made from the public headers.

A header's opening `//` comment introduces its page. A `///` comment documents the declarations below it, up to the next
such comment or empty line; `///<` documents the declaration before it. A public declaration with neither is an error,
except for what every type has: destructors, copies and moves, and comparisons. What is documented as
"For Weft's own use" is left out, and so is WEFT_API, the mark of exported symbols. This reads the C++ and the C of our
own headers, not the languages at large: where it meets something that it does not understand it fails, and the page is
not made.

    tools/reference.py            lists what is undocumented; exits with 1 if there is any
    tools/reference.py DIRECTORY  writes the pages there as well
"""

import dataclasses
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
HEADERS = TOP / "include" / "weft"
OWN_USE = "For Weft's own use"
EXPORT = "export.hpp"  # defines WEFT_API
# The interfaces of other libraries, which their own manuals describe.
OF_OTHERS = {"fftw3-mpi.h", "heffte.h", "heffte_c.h"}
GUARD = re.compile(r"#define WEFT_\w+_H$")


@dataclasses.dataclass
class Declaration:
    text: str
    kind: str  # "type", "value" (of an enum), "other"
    line: int
    document: str = ""
    brief: str = ""  # from ///<
    members: list["Group"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Group:
    """Declarations that share one comment."""

    document: str
    declarations: list[Declaration] = dataclasses.field(default_factory=list)


class Header:
    """One header, read from top to bottom; `position` is where the next declaration begins."""

    def __init__(self, path: pathlib.Path):
        self.name = f"weft/{path.name}"
        self.text = path.read_text()
        self.position = 0
        self.introduction = self.read_introduction()
        self.groups: list[Group] = []
        self.read_scope(self.groups, public=True, kind="namespace")

    def read_introduction(self) -> str:
        lines = []
        for line in self.text.splitlines():
            if not line.startswith("//") or line.startswith("///"):
                break
            lines.append(line[2:].removeprefix(" "))
        return "\n".join(lines)

    def line_number(self) -> int:
        return self.text.count("\n", 0, self.position) + 1

    def rest_of_line(self) -> str:
        end = self.text.find("\n", self.position)
        return self.text[self.position : end if end >= 0 else len(self.text)]

    def read_scope(self, groups: list[Group], public: bool, kind: str) -> None:
        """Reads declarations up to the closing brace of the scope, or to the end of the file."""
        group = Group("")
        last: Declaration | None = None
        comment: list[str] = []
        while self.position < len(self.text):
            line = self.rest_of_line()
            stripped = line.strip()
            at_line_start = self.position == 0 or self.text[self.position - 1] == "\n"
            if stripped.startswith("///<"):
                if last is None:
                    raise ValueError(f"{self.name}:{self.line_number()}: a ///< comment without a declaration")
                last.brief = (last.brief + " " + stripped[4:].strip()).strip()
            elif stripped.startswith("///"):
                if not comment:
                    group = Group("")
                comment.append(stripped[3:].removeprefix(" "))
            elif stripped.startswith("//"):
                pass
            elif stripped.startswith("#define") and not GUARD.match(stripped):
                self.add(groups, group, comment, Declaration(stripped, "other", self.line_number()), public)
                comment = []
            elif stripped == "" and at_line_start:
                group = Group("")
            elif stripped != "" and not stripped.startswith("#"):
                self.position += len(line) - len(line.lstrip())
                access = re.match(r"(public|private|protected):", stripped)
                if access:
                    public = access.group(1) == "public"
                    group, last, comment = Group(""), None, []
                    self.position += access.end()
                    continue
                if stripped.startswith("}"):
                    self.position += 1
                    return
                last = self.read_declaration(groups, group, comment, public, kind)
                comment = []
                continue
            self.position += len(line) + 1
        if kind != "namespace":
            raise ValueError(f"{self.name}: a scope is not closed")

    def read_declaration(self, groups, group, comment, public, kind) -> Declaration | None:
        start, line = self.position, self.line_number()
        ends = ",}" if kind == "enum" else ";{"
        while self.text[self.position] not in ends or self.depth(start) > 0:
            self.position += 1
            if self.text.startswith("//", self.position) and kind == "enum":
                break  # the last value, with its ///< behind it
        text = " ".join(self.text[start : self.position].replace("WEFT_API ", "").split())
        if kind == "enum":
            if self.text[self.position] == ",":
                self.position += 1
            declaration = Declaration(text, "value", line)
        elif re.match(r"(inline )?namespace\b|extern \"C\"$", text):
            self.position += 1
            self.read_scope(groups, public=True, kind="namespace")
            return None
        elif self.text[self.position] == "{" and re.match(r"(template <[^>]*> |typedef )?(class|struct|enum)\b", text):
            self.position += 1
            text = text.removeprefix("typedef ")
            inner = "enum" if text.startswith("enum") else "class"
            declaration = Declaration(text, "type", line)
            if public:
                starts_private = re.match(r"(template <[^>]*> )?class\b", text) is not None
                self.read_scope(declaration.members, not starts_private, inner)
            else:
                self.skip()
            self.skip_name()
            self.skip_semicolon()
        else:
            if self.text[self.position] == "{":
                self.position += 1
                self.skip()
                text = re.split(r"(?<=\)) : ", text)[0]  # without the initialisers of a constructor
            self.skip_semicolon()
            declaration = Declaration(text, "other", line)
        self.add(groups, group, comment, declaration, public)
        return declaration

    def depth(self, start: int) -> int:
        """How deep in parentheses the position is, for a declaration that began at `start`."""
        text = self.text[start : self.position]
        return text.count("(") - text.count(")")

    def skip(self) -> None:
        """To behind the brace that closes the one just opened."""
        depth = 1
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(self.text[self.position], 0)
            self.position += 1

    def skip_name(self) -> None:
        """To behind the name that C gives a struct or enum at its end."""
        self.position += len(re.match(r"( \w+)?", self.text[self.position :]).group())

    def skip_semicolon(self) -> None:
        if self.text[self.position : self.position + 1] == ";":
            self.position += 1

    def add(self, groups, group, comment, declaration, public) -> None:
        if not public or is_forward(declaration):
            return
        if comment:
            group.document = "\n".join(comment)
        if needs_no_document(declaration) and not group.document:
            return
        declaration.document = group.document
        if not any(g is group for g in groups):
            groups.append(group)
        group.declarations.append(declaration)

    def check(self, groups: list[Group] | None = None, where: str = "") -> list[str]:
        """The public declarations that nobody has documented."""
        found = []
        for group in self.groups if groups is None else groups:
            for d in group.declarations:
                # The values of an enum may speak for themselves if the enum is documented.
                if not group.document and not d.brief and d.kind != "value":
                    found.append(f"include/{self.name}:{d.line}: {where}{d.text} has no /// comment")
                found += self.check(d.members, name_of(d) + ": ")
        return found


def is_forward(d: Declaration) -> bool:
    return d.kind == "other" and re.match(r"(friend |)(class|struct) \w+$", d.text) is not None


def needs_no_document(d: Declaration) -> bool:
    if re.search(r"~\w+\(\)|= (default|delete)$|operator=(\(|=)", d.text) and "template" not in d.text:
        return True
    return re.match(r"(\w+)\(\1 ?&&", d.text) is not None  # a move


def name_of(d: Declaration) -> str:
    if d.text.startswith("#define"):
        return d.text.split()[1]
    text = re.sub(r"^template <[^>]*> ", "", d.text)
    if d.kind == "type":
        return re.match(r"(?:enum class|enum|class|struct) (\w+)", text).group(1)
    operator = re.search(r"operator\s*(\W+?)\s*\(", text)
    if operator:
        return "operator" + operator.group(1)
    using = re.match(r"using (\w+)", text)
    if using:
        return using.group(1)
    before = re.split(r"\(|\{", text)[0].strip().removesuffix("=").strip()
    before = re.sub(r" = [^,]+|\[[^\]]*\]|<\w+>$", "", before)
    found = re.search(r"\w+(, \w+)+$|[\w:]+$", before)
    if found is None:
        raise ValueError(f'line {d.line}: what is declared by "{d.text}"?')
    return found.group(0)


def prose(text: str) -> str:
    """A comment as Markdown: what looks like HTML outside code is meant literally."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("    "):
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [re.sub(r"(?<!^)\*", r"\\*", p.replace("&", "&amp;").replace("<", "&lt;")) for p in parts[::2]]
            line = "".join(parts)
            if line.startswith("- ") and lines and lines[-1] and not re.match(r"- |  ", lines[-1]):
                lines.append("")
        lines.append(line)
    return "\n".join(lines)


def code(lines: list[str]) -> str:
    return "```cpp\n" + "\n".join(lines) + "\n```\n"


def shown(d: Declaration) -> str:
    if d.kind == "type":
        return d.text + ";" if not d.text.startswith("enum") else d.text
    text = re.sub(r"^(template <[^>]*>) ", r"\1\n", d.text)
    return text if text.startswith("#") else text + ";"


def render_type(d: Declaration, level: int) -> list[str]:
    out = [f"{'#' * level} {name_of(d)}\n"]
    if d.text.startswith("enum"):
        values = [v for g in d.members for v in g.declarations]
        out += [code([d.text + " { " + ", ".join(v.text for v in values) + " };"]), prose(d.document) + "\n"]
        out += [f"- `{v.text}`: {prose(v.brief)}" for v in values if v.brief]
        return [*out, ""]
    out += [code([shown(d)]), prose(d.document) + "\n"]
    return out + [part for g in d.members for part in render_group(g, level + 1, name_of(d))]


def render_group(group: Group, level: int, owner: str = "") -> list[str]:
    """The section of a group; `owner` is the class that it is a member of."""
    if group.document.startswith(OWN_USE):
        return []
    out: list[str] = []
    plain = [d for d in group.declarations if d.kind != "type"]
    if plain:
        names = list(dict.fromkeys(name_of(d) for d in plain if not needs_no_document(d)))
        heading = ", ".join("constructor" if name == owner else name for name in names)
        out += [f"{'#' * level} {heading}\n", code([shown(d) for d in plain]), prose(group.document) + "\n"]
        out += [f"- `{name_of(d)}`: {prose(d.brief)}" for d in plain if d.brief]
        out.append("")
    for d in group.declarations:
        if d.kind == "type":
            out += render_type(d, level)
    return out


def page(header: Header) -> str:
    parts = [f"# {header.name}\n", prose(header.introduction) + "\n"]
    for group in header.groups:
        parts += render_group(group, 2)
    return "\n".join(parts)


def headers() -> list[Header]:
    """Those that declare something for programs."""
    found = [
        Header(p) for p in sorted([*HEADERS.glob("*.hpp"), *HEADERS.glob("*.h")]) if p.name not in {EXPORT, *OF_OTHERS}
    ]
    return [h for h in found if h.groups]


def pages() -> dict[str, str]:
    """Name of each page and its Markdown. Raises ValueError that lists what is undocumented, if anything is."""
    all_headers = headers()
    missing = [m for h in all_headers for m in h.check()]
    if missing:
        raise ValueError("\n".join(missing))
    return {re.sub(r"weft/(\w+)\.h(pp)?", r"\1.md", h.name): page(h) for h in all_headers}


def main() -> int:
    try:
        made = pages()
    except ValueError as missing:
        print(missing)
        return 1
    for name, text in made.items():
        if len(sys.argv) > 1:
            directory = pathlib.Path(sys.argv[1])
            directory.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
    print(f"reference: {len(made)} headers, every public declaration is documented")
    return 0


if __name__ == "__main__":
    sys.exit(main())
