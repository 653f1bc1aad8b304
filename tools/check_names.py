#!/usr/bin/env python3
"""Checks that no two headers of src/ define a type of the same name.

The linker takes one of two functions with the same name, such as constructors of two types. What is inlined hides that;
a build without optimization then works on the wrong type. Prints one line per name and exits with 1 if there is any.
"""

import collections
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
NAMESPACE = re.compile(r"^namespace (\S+) \{", re.MULTILINE)
# Contents of namespaces are not indented, so that only types of namespaces begin a line.
TYPE = re.compile(r"^(?:template <.*>\n?)?(?:struct|class|enum class|enum) (\w+)\b(?! *<)[^;(]*\{", re.MULTILINE)


def main() -> int:
    places = collections.defaultdict(list)
    headers = sorted((TOP / "src").rglob("*.hpp"))
    for path in headers:
        text = path.read_text()
        namespace = "::".join(NAMESPACE.findall(text)[:1])
        for name in TYPE.findall(text):
            places[f"{namespace}::{name}"].append(path.relative_to(TOP).as_posix())
    twice = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(files)}")
    if not twice:
        print(f"names: {len(places)} types in {len(headers)} headers, none defined twice")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
