"""The header comment of a rung's file; core/rung.hpp has its grammar."""

import re

HEADER = re.compile(
    r"(?P<id>\S+): (?P<idea>.+?) from: (?P<from>.+?) \| removes: (?P<removes>.+?) "
    r"\| bottleneck: (?P<bottleneck>.+?) needs: (?P<needs>.+?) \| try: (?P<try>.+)"
)


def text(path):
    """The header comment as one line."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return " ".join(lines)


def header(path):
    """The fields of a rung's header by name; ValueError if it does not parse."""
    match = HEADER.fullmatch(text(path))
    if not match:
        raise ValueError(f"{path}: the header comment is not what core/rung.hpp asks for")
    return match.groupdict()


def claims_spills(path):
    """True if the bottleneck field of a rung or library kernel mentions spills."""
    return bool(re.search(r"\bbottleneck:(?:(?! needs: ).)*\bspills\b", text(path)))
