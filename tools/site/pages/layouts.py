"""The layout explorer: pictures that `rung layout` draws, chosen by instruction, type, swizzle and major-ness."""

import itertools
import pathlib
import re

SWIZZLES = ["none", "32", "64", "128"]
# Boxes as wide as the swizzle span or, without one, 64 bytes: elements by bytes of the type.
BYTES = {"e4m3": 1, "bf16": 2, "f32": 4}
# The shape of mma for each type.
SHAPES = {"bf16": "m16n8k16", "tf32": "m16n8k8", "e4m3": "m16n8k32", "s8": "m16n8k32", "f64": "m8n8k4"}

TENSOR_MEMORY = {
    "d-128": ["m128n32k16", "--operand", "D"],
    "d-64": ["m64n32k16", "--operand", "D"],
    "d-64-ws": ["m64n64k16", "--operand", "D", "--ws"],
    "d-128-pair": ["m128n32k16", "--operand", "D", "--blocks", "2"],
    "scales-of-a": ["m128n32k16", "--operand", "SA", "--scales", "4"],
}


def box(kind, swizzle):
    return f"{(64 if swizzle == 'none' else int(swizzle)) // BYTES[kind]}x16"


# A section for each: its id, title, sentence, choices as (name, values), and the arguments of rung layout.
KINDS = [
    (
        "tma",
        "A TMA box in shared memory",
        "A line is 128 bytes, once through the banks. A cell is 16 bytes, and shows the row and column of its first element.",
        [("type", list(BYTES)), ("swizzle", SWIZZLES[::-1])],
        lambda kind, swizzle: ["tma", "--type", kind, "--box", box(kind, swizzle), "--swizzle", swizzle],
    ),
    (
        "wgmma",
        "The bytes that a wgmma descriptor reads",
        "B of m64n64k16, bf16. Cells show k and column; dots are bytes of other k-steps.",
        [("major", ["k", "mn"]), ("swizzle", SWIZZLES[::-1]), ("k-step", ["0", "1", "2"])],
        lambda major, swizzle, step: (
            ["wgmma", "m64n64k16", "--operand", "B", "--major", major, "--swizzle", swizzle, "--k-step", step]
        ),
    ),
    (
        "mma",
        "Fragments of mma.sync",
        "A cell shows the lane and the register that hold an element.",
        [("type", list(SHAPES)), ("operand", ["A", "B", "D"])],
        lambda kind, operand: ["mma", SHAPES[kind], "--type", kind, "--operand", operand],
    ),
    (
        "ldmatrix",
        "ldmatrix",
        "Four 8x8 matrices whose rows are 128 bytes apart: lane, register and half of each element.",
        [("form", ["plain", "trans"]), ("swizzle", ["none", "128"])],
        lambda form, swizzle: (
            ["ldmatrix", "x4", "--swizzle", swizzle, *(["--trans"] if form == "trans" else [])]
        ),
    ),
    (
        "tmem",
        "Loads of tensor memory",
        "The lane and register of a warp that tcgen05.ld fills from a lane (row) and column of tensor memory.",
        [("form", ["32x32b.x8", "16x64b.x4", "16x128b.x2", "16x256b.x1"])],
        lambda form: ["tmem", form],
    ),
    (
        "tcgen05",
        "Sums and block scales of tcgen05.mma in tensor memory",
        "The lane and the column of each element of D, or of the block scales of A. Lanes from 128 on are the second block’s.",
        [("matrix", ["d-128", "d-64", "d-64-ws", "d-128-pair", "scales-of-a"])],
        lambda matrix: ["tcgen05", *TENSOR_MEMORY[matrix]],
    ),
    (
        "sparse",
        "Fragments of a sparse mma.sp",
        "m16n8k32 of f16: the stored half of A, and E, the metadata of four bits for each four elements.",
        [("operand", ["A", "E"])],
        lambda operand: ["mma", "m16n8k32", "--type", "f16", "--sparse", "--operand", operand],
    ),
    (
        "more",
        "Accumulators, and Apple’s matrices",
        "D of wgmma in the registers of a warpgroup, and simdgroup_matrix.",
        [("matrix", ["wgmma", "simdgroup"])],
        lambda matrix: ["wgmma", "m64n64k16", "--operand", "D"] if matrix == "wgmma" else ["simdgroup"],
    ),
]


def make(site):
    asked = {}
    for kind, _, _, choices, arguments in KINDS:
        for values in itertools.product(*(options for _, options in choices)):
            asked[kind, values] = (arguments(*values), site.rung.start("layout", *arguments(*values), "--svg", "-"))
    sections = []
    for kind, title, about, choices, _ in KINDS:
        pictures = []
        for values in itertools.product(*(options for _, options in choices)):
            command, drawn = asked[kind, values]
            path = f"layouts/{'-'.join((kind, *values))}.svg"
            svg = drawn.result()
            site.write(path, svg)
            width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)', svg).groups())
            pictures.append(
                {
                    "file": pathlib.PurePath(path).name,
                    "command": "rung layout " + " ".join(command),
                    "title": re.search(r"<title[^>]*>(.*?)</title>", svg, re.S)[1],
                    "width": round(width),
                    "height": round(height),
                }
            )
        sections.append({"id": kind, "title": title, "about": about, "choices": choices, "pictures": pictures})
    site.page("layouts/index.html", "layouts.html", section="docs", title="Layouts", sections=sections)
    site.index.add(
        "Docs", "layouts/index.html", "Layouts", "TMA boxes, swizzles, wgmma descriptors, fragments of mma, ldmatrix"
    )
