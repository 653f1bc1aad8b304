#!/usr/bin/env python3
"""Draws the pictures of docs/concepts.md and docs/which-options.md into docs/pictures.

tools/draw_concepts.py          draws them
tools/draw_concepts.py --check  exits with 1 if one of them is not what this script draws
"""

import pathlib
import sys

PICTURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "pictures"
# One colour per rank.
RANKS = ["#8fb8de", "#f2b872", "#9fcf9a", "#d99ac5", "#b8aee0", "#e8e08a", "#8fd0cf", "#e59a8f"]
FFT, PACK, WIRE = "#8fb8de", "#f2b872", "#9fcf9a"
LINE, TEXT, PALE = "#444444", "#222222", "#f0f0f0"


class Picture:
    """A drawing, with the origin at the top left and lengths in pixels."""

    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" font-family="sans-serif" font-size="13" fill="{TEXT}">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{LINE}"/></marker></defs>',
        ]

    def shape(self, points, fill):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{fill}" stroke="{LINE}" stroke-width="1"/>')

    def box(self, x, y, width, height, fill, label="", size=13):
        self.shape([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill)
        if label:
            self.text(x + width / 2, y + height / 2 + size * 0.35, label, "middle", size)

    def text(self, x, y, text, anchor="start", size=13, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{weight}>{text}</text>'
        )

    def arrow(self, x0, y0, x1, y1, dashed=False):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{LINE}" stroke-width="1.4"'
            f'{dash} marker-end="url(#tip)"/>'
        )

    def cube(self, x, y, side, parts):
        """A cube cut into parts[a] parts along axis a, each in the colour of its rank. Axis 0 goes back, axis 1 down,
        axis 2 to the right."""
        n0, n1, n2 = parts
        back = side * 0.45  # of axis 0 on paper

        def at(i, j, k):
            return x + k * side + i * back, y + back + j * side - i * back

        def rank(i, j, k):
            return RANKS[((i * n1 + j) * n2 + k) % len(RANKS)]

        def face(corner, u, v, fill):
            def moved(a, b):
                return at(*(c + a * p + b * q for c, p, q in zip(corner, u, v, strict=True)))

            self.shape([moved(0, 0), moved(1, 0), moved(1, 1), moved(0, 1)], fill)

        d0, d1, d2 = ((1 / n0, 0, 0), (0, 1 / n1, 0), (0, 0, 1 / n2))
        for j in range(n1):
            for k in range(n2):
                face((0, j / n1, k / n2), d1, d2, rank(0, j, k))
        for i in range(n0):
            for k in range(n2):
                face((i / n0, 0, k / n2), d0, d2, rank(i, 0, k))
            for j in range(n1):
                face((i / n0, j / n1, 1), d0, d1, rank(i, j, n2 - 1))

    def write(self):
        return "\n".join([*self.parts, "</svg>", ""])


def distributions():
    p = Picture(760, 240, "Slabs, pencils and bricks")
    cases = [
        ("slab(0)", (4, 1, 1), "cut along axis 0"),
        ("slab(1)", (1, 4, 1), "cut along axis 1"),
        ("pencil(2)", (2, 2, 1), "axis 2 is whole"),
        ("brick()", (2, 2, 2), "8 ranks, cut along all"),
    ]
    for i, (name, parts, text) in enumerate(cases):
        x = 40 + i * 180
        p.cube(x, 25, 90, parts)
        p.text(x + 62, 200, name, "middle", 14, bold=True)
        p.text(x + 62, 219, text, "middle", 12)
    p.arrow(14, 64, 14, 154)
    p.text(8, 172, "axis 1", "start", 11)
    p.arrow(40, 160, 130, 160)
    p.text(85, 173, "axis 2", "middle", 11)
    p.arrow(14, 60, 46, 28)
    p.text(8, 20, "axis 0", "start", 11)
    return p


def memory():
    p = Picture(760, 270, "A box in an array with halo cells")
    rows, columns, halo, size = 6, 8, 1, 34
    for i in range(rows):
        for j in range(columns):
            inside = halo <= i < rows - halo and halo <= j < columns - 2
            p.box(20 + j * size, 30 + i * size, size, size, RANKS[0] if inside else PALE, str(i * columns + j), 11)
    x = 20 + columns * size + 40
    lines = [
        ("The box of this rank: 4 x 5 points, [4:8, 10:15)", True),
        ("halo: 1 cell before, 1 after along axis 0; 1 before, 2 after along axis 1", False),
        ("numbers: position in memory, in elements", False),
        ("strides {8, 1}: from one row to the next, from one column to the next", False),
        ("offset 9: the first point of the box, behind the pointer", False),
        ("count 48: elements of the array, halo included", False),
    ]
    for k, (line, bold) in enumerate(lines):
        p.text(x, 60 + 26 * k, line, "start", 12, bold)
    return p


def schedules():
    p = Picture(760, 400, "A slab schedule and a pencil schedule")

    def chain(y, title, stages, step):
        p.text(20, y, title, "start", 14, bold=True)
        for i, (parts, fft, reshape) in enumerate(stages):
            x = 20 + i * step
            p.cube(x, y + 15, 70, parts)
            p.text(x + 50, y + 138, fft, "middle", 12)
            if reshape:
                p.arrow(x + 115, y + 75, x + step - 12, y + 75)
                p.text(x + 52 + step / 2, y + 66, reshape, "middle", 12)

    chain(
        30,
        "slabs: one reshape",
        [((4, 1, 1), "FFT of axes 1, 2", "reshape, all ranks"), ((1, 4, 1), "FFT of axis 0", "")],
        300,
    )
    chain(
        215,
        "pencils: two reshapes, each among fewer ranks",
        [
            ((2, 2, 1), "FFT of axis 2", "rows"),
            ((2, 1, 2), "FFT of axis 1", "columns"),
            ((1, 2, 2), "FFT of axis 0", ""),
        ],
        230,
    )
    return p


def pipelines():
    p = Picture(760, 330, "Sequential and windowed execution")
    unit, left = 38, 110

    def lane(y, name, blocks):
        p.text(20, y + 20, name, "start", 12)
        for start, length, fill, label in blocks:
            p.box(left + start * unit, y, length * unit, 30, fill, label, 11)

    p.text(20, 28, "sequential", "start", 14, bold=True)
    lane(42, "processor", [(0, 4, FFT, "FFT, pack"), (10, 4, FFT, "unpack, FFT")])
    lane(78, "network", [(4, 6, WIRE, "exchange")])

    p.text(20, 158, "windowed: 4 tiles, window 2", "start", 14, bold=True)
    order = ["FFT 0", "FFT 1", "FFT 2", "FFT' 0", "FFT 3", "FFT' 1", "FFT' 2", "FFT' 3"]
    processor = [(k, 1, PACK if "'" in name else FFT, name) for k, name in enumerate(order)]
    lane(172, "processor", processor)
    lane(208, "network", [(1 + 1.5 * k, 1.5, WIRE, f"tile {k}") for k in range(4)])
    p.text(20, 272, "FFT k: first FFT and packing of tile k.  FFT' k: unpacking and second FFT of tile k.", "start", 12)
    p.text(20, 292, "Before tile k is posted, tile k - 2 is received: at most two tiles are under way.", "start", 12)
    p.text(20, 312, "Time runs to the right. The lengths are for illustration.", "start", 12)
    return p


def planes():
    p = Picture(760, 350, "Planes and two-front")
    unit, left = 52, 110
    rest, late = "#cfe8cc", "#f7d9b0"

    def lane(y, name, blocks):
        p.text(20, y + 19, name, "start", 12)
        for start, length, fill, label in blocks:
            p.box(left + start * unit, y, length * unit, 28, fill, label, 11)

    ffts = [(1.2 * k, 1.2, FFT, f"FFT {k}") for k in range(4)]
    p.text(20, 28, "planes: 4 tiles of planes", "start", 14, bold=True)
    lane(40, "processor", [*ffts, (7.88, 4, PACK, "FFT' of the columns")])
    lane(74, "network", [(1.2 + 1.67 * k, 1.67, WIRE, f"tile {k}") for k in range(4)])
    p.text(
        20,
        122,
        "The exchange begins when the first tile is transformed. The last FFT needs whole columns: it waits",
        size=12,
    )
    p.text(20, 139, "for the last tile.", size=12)

    p.text(20, 178, "two-front: 4 tiles of planes, the rest in 2 tiles", "start", 14, bold=True)
    lane(190, "processor", [*ffts, (6.2, 3, PACK, "FFT' of the front"), (9.2, 0.5, late, "r0"), (9.7, 0.5, late, "r1")])
    fronts = [(1.2 + 1.25 * k, 1.25, WIRE, f"front {k}") for k in range(4)]
    lane(224, "network", [*fronts, (6.2, 0.84, rest, "r0"), (7.04, 0.84, rest, "r1")])
    p.text(
        20,
        272,
        "Of each tile only the first columns, the front, are sent at once. They are whole earlier, and are",
        size=12,
    )
    p.text(20, 289, "transformed while the other columns, the rest, arrive in tiles of their own (r0, r1).", size=12)
    p.text(20, 317, "FFT k: first FFT of the planes of tile k.  FFT': second FFT, along the columns.", size=12)
    p.text(20, 336, "Time runs to the right. The lengths are for illustration.", size=12)
    return p


def exchanges():
    p = Picture(760, 300, "A buffered and a direct exchange")
    p.text(20, 28, "buffered", "start", 14, bold=True)
    names = [("tile", RANKS[0]), ("send part", RANKS[0]), ("receive part", RANKS[1]), ("tile", RANKS[1])]
    verbs = ["pack", "message", "unpack"]
    for i, (name, fill) in enumerate(names):
        p.box(20 + i * 195, 50, 110, 50, fill, name)
        if i < 3:
            p.arrow(134 + i * 195, 75, 211 + i * 195, 75)
            p.text(172 + i * 195, 66, verbs[i], "middle", 12)
    p.text(20, 125, "on the sending rank", "start", 12)
    p.text(410, 125, "on the receiving rank", "start", 12)

    p.text(20, 178, "direct", "start", 14, bold=True)
    p.box(20, 200, 110, 50, RANKS[0], "tile")
    p.box(605, 200, 110, 50, RANKS[1], "tile")
    p.arrow(134, 215, 601, 215)
    p.text(367, 206, "one copy, into the other rank's workspace", "middle", 12)
    p.arrow(601, 238, 134, 238, dashed=True)
    p.text(367, 256, "flags: full, when it is there; free, when it has been used", "middle", 12)
    p.text(20, 282, "on the sending rank", "start", 12)
    p.text(605, 282, "on the receiving rank", "start", 12)
    return p


def workspace():
    p = Picture(760, 260, "The two halves of the workspace during a buffered exchange")
    width, left = 130, 120
    p.text(20, 68, "staging", "start", 14, bold=True)
    p.text(20, 178, "landing", "start", 14, bold=True)
    staging = [("received tile 0", WIRE), ("packed, dead", PALE), ("tile 2", FFT), ("tile 3", FFT)]
    landing = [("unpacked tile 0", PACK), ("send parts 1", PACK), ("", "#ffffff"), ("", "#ffffff")]
    for k in range(4):
        p.box(left + k * width, 40, width, 50, staging[k][1], staging[k][0], 12)
        p.box(left + k * width, 150, width, 50, landing[k][1], landing[k][0], 12)
        p.text(left + (k + 0.5) * width, 30, f"tile {k}", "middle", 12)
    p.arrow(left + 0.5 * width, 93, left + 0.5 * width, 147)
    p.text(left + 0.5 * width + 8, 124, "unpack", "start", 12)
    p.arrow(left + 1.5 * width, 93, left + 1.5 * width, 147)
    p.text(left + 1.5 * width + 8, 124, "pack", "start", 12)
    p.arrow(left + 2.5 * width, 93, left + 2.5 * width, 147, dashed=True)
    p.text(left + 2.5 * width + 8, 124, "next", "start", 12)
    p.text(
        20,
        232,
        "Tile k leaves staging for landing's tile k, from which it is sent, and is received where it lay in staging.",
    )
    return p


def decisions():
    questions = [
        (
            "May the output be cut along another axis than the input?",
            "output = slab(1) or fastest()",
            "one exchange less",
        ),
        (
            "Do you run the same problem again and again?",
            "effort=patient, wisdom=FILE",
            "tune once, then keep the file",
        ),
        ("Are there more cores than ranks?", "threads=N", "N threads in each rank"),
        ("Does the transform become slower with more ranks?", "shrink=R", "only R ranks transform"),
    ]
    step, left, width, answer = 50, 20, 390, 470
    p = Picture(760, step * len(questions) + 42, "Which options make a transform faster")
    for i, (question, setting, why) in enumerate(questions):
        y = 8 + i * step
        p.box(left, y, width, 38, RANKS[0], question)
        p.arrow(left + width, y + 19, answer - 2, y + 19)
        p.text((left + width + answer) / 2, y + 14, "yes", "middle", 12)
        p.box(answer, y, 270, 38, RANKS[2])
        p.text(answer + 135, y + 16, setting, "middle", bold=True)
        p.text(answer + 135, y + 32, why, "middle", 12)
        p.arrow(left + width / 2, y + 38, left + width / 2, y + step - 2)
    p.box(left, 8 + len(questions) * step, width, 30, PALE, "Leave all else: rules decide, the printed plan says what")
    return p


ALL = {f.__name__: f for f in (distributions, memory, schedules, pipelines, planes, exchanges, workspace, decisions)}


def main():
    stale = []
    for name, draw in ALL.items():
        path = PICTURES / f"{name}.svg"
        text = draw().write()
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        print(f"pictures: {', '.join(stale)} differ from what tools/draw_concepts.py draws; run it")
        return 1
    print(f"pictures: {len(ALL)}, as drawn by tools/draw_concepts.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
