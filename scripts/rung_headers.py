"""The header comment of a rung's file; src/core/rung.hpp has its grammar."""

import re

HEADER = re.compile(
    r"(?P<id>\S+): (?P<idea>.+?) from: (?P<from>.+?) \| removes: (?P<removes>.+?) "
    r"\| bottleneck: (?P<bottleneck>.+?) needs: (?P<needs>.+?) \| try: (?P<try>.+)"
)


def header(path):
    """The fields of a rung's header by name; ValueError if it does not parse."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    match = HEADER.fullmatch(" ".join(lines))
    if not match:
        raise ValueError(f"{path}: the header comment is not what src/core/rung.hpp asks for")
    return match.groupdict()


def claims_spills(path):
    """Whether the bottleneck field mentions spills."""
    return bool(re.search(r"\bspills\b", header(path)["bottleneck"]))
