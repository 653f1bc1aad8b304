#!/usr/bin/env python3
"""Checks what a shared libweft exports: check_symbols.py [--nm NM] [--without HEADER] --headers DIRECTORY LIBRARY.

The rule: a defined dynamic symbol is either a name that a public header marks WEFT_API, or a member, vtable or type
information of such a class, or a weak instantiation of a template of the C++ library, with marked classes of Weft at
most: the C++ library makes these visible whatever Weft says. And every name that a header marks is there. Headers of C
(.h) mark functions. Prints one line per violation and exits with 1 if there is any.
"""

import argparse
import pathlib
import re
import subprocess
import sys

CLASS = re.compile(r"\b(?:class|struct) WEFT_API (\w+)")
FUNCTION = re.compile(r"\bWEFT_API (?!\w+ [:{])[^;{(]*?([\w:]+|operator<<)(?:<[^<>;]*>)?\(")
# The class or struct that a member stands in; the headers close each with a "};" in the first column.
SCOPE = re.compile(r"^(?:class|struct) (?:WEFT_API )?(\w+)(?: :[^{]*)? \{$(.*?)^\};$", re.MULTILINE | re.DOTALL)
ABOUT = re.compile(r"^(?:vtable|typeinfo|typeinfo name) for ")
WEAK = set("WVu")


def marked(headers):
    """The names that headers mark: in namespace weft classes, and functions on their own or in a class that is not
    marked; and functions of C."""
    classes, functions, of_c = set(), set(), set()
    for header in headers:
        text = re.sub(r"//.*", "", header.read_text())
        if header.suffix == ".h":
            of_c |= set(FUNCTION.findall(text))
            continue
        classes |= set(CLASS.findall(text))
        for name, body in SCOPE.findall(text):
            functions |= {f"{name}::{f}" for f in FUNCTION.findall(body)}
        functions |= set(FUNCTION.findall(SCOPE.sub("", text)))
    return classes, functions, of_c


def without_arguments(text):
    """A demangled name without template arguments: "std::vector<weft::Box>" -> "std::vector"."""
    text, depth, kept = text.replace("operator<<", "operator\0"), 0, []
    for letter in text:
        depth += letter == "<"
        if depth == 0:
            kept.append(letter)
        depth -= letter == ">"
    return "".join(kept).replace("operator\0", "operator<<")


def name_of(symbol):
    """The qualified name of a demangled symbol, without return type, parameters and tags."""
    plain = re.sub(r"\[abi:\w+\]", "", without_arguments(ABOUT.sub("", symbol)))
    return plain.split("(")[0].split(" ")[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--headers", type=pathlib.Path, required=True)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("library")
    arguments = parser.parse_args()

    skipped = {"export.hpp", *arguments.without}  # the first defines the mark
    headers = sorted(h for h in arguments.headers.rglob("*.h*") if h.name not in skipped)
    classes, functions, of_c = marked(headers)
    listed = subprocess.run(
        [arguments.nm, "-DC", "--defined-only", arguments.library], check=True, capture_output=True, text=True
    )
    symbols = [line.split(" ", 2)[1:] for line in listed.stdout.splitlines()]

    violations, found = [], set()
    for kind, symbol in symbols:
        name = name_of(symbol)
        of_weft = re.match(r"weft::(.+)", name)
        if symbol in of_c:
            found.add(symbol)
        elif not of_weft:
            hidden = set(re.findall(r"\bweft::(\w+)", symbol)) - classes
            if kind not in WEAK or hidden or not name.startswith(("std::", "__gnu_cxx::")):
                violations.append(f"exports {symbol}, which is nothing of Weft's")
        elif of_weft[1].split("::")[0] not in classes and of_weft[1] not in functions:
            violations.append(f"exports {symbol}, which no public header marks with WEFT_API")
        else:
            found |= {of_weft[1], of_weft[1].split("::")[0]}
    wanted = {f"weft::{name}" for name in classes | functions} | of_c
    found = {name if name in of_c else f"weft::{name}" for name in found}
    violations += [f"lacks {name}, marked in a public header" for name in sorted(wanted - found)]

    print("\n".join(violations) if violations else f"symbols: {len(symbols)}, all of them public")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
