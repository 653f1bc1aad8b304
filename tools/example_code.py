#!/usr/bin/env python3
"""Keeps the code in the pages of docs/ equal to that of the examples.

A line `<!-- examples/first.cpp plan -->` in a page stands before a block of code: what is between `// [plan]` and
`// [/plan]` in that file (`#` for `//` in Python, `!` in Fortran) or, without a name, the whole file without its marks.

tools/example_code.py          writes the blocks
tools/example_code.py --check  exits with 1 if one of them is not what its example says
"""

import pathlib
import re
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- (\S+)(?: (\w+))? -->\n(?:```\w+\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^ *(?://|#|!) \[/?\w+\]\n", re.MULTILINE)


def code_between(name: str, mark: str | None) -> str:
    text = (TOP / name).read_text()
    if mark is not None:
        found = re.findall(
            rf"^ *(?://|#|!) \[{mark}\]\n(.*?)^ *(?://|#|!) \[/{mark}\]\n", text, re.MULTILINE | re.DOTALL
        )
        if len(found) != 1:
            sys.exit(f"{name} has {len(found)} parts between [{mark}] and [/{mark}]")
        text = found[0]
    return textwrap.dedent(MARK.sub("", text)).strip("\n")


def block(match: re.Match) -> str:
    name, mark = match.groups()
    language = {".py": "python", ".c": "c", ".f90": "fortran"}.get(pathlib.PurePath(name).suffix, "cpp")
    return f"<!-- {name}{' ' + mark if mark else ''} -->\n```{language}\n{code_between(name, mark)}\n```\n"


def main():
    stale, blocks = [], 0
    for path in sorted((TOP / "docs").rglob("*.md")):
        page = path.read_text()
        text, count = BLOCK.subn(block, page)
        blocks += count
        if text == page:
            continue
        if sys.argv[1:] == ["--check"]:
            stale.append(str(path.relative_to(TOP)))
        else:
            path.write_text(text)
    if stale:
        print(f"code in {', '.join(stale)} differs from the examples; run tools/example_code.py")
        return 1
    print(f"code of examples: {blocks} blocks in the pages, as in the examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
