"""Checks of every page of `rung report`: well-formed, self-contained, usable without seeing the
pictures, and with the figures of the results that it was made from."""

import html.parser
import json
import math
import pathlib
import re

VOID = {"meta", "link", "br", "input"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.own = [], []

    def all(self, tag):
        for child in self.children:
            if child.tag == tag:
                yield child
            yield from child.all(tag)

    def first(self, tag):
        return next(self.all(tag), None)

    def text(self):
        return "".join(part if isinstance(part, str) else part.text() for part in self.own)


class Parser(html.parser.HTMLParser):
    """Parses a page into a tree. Elements must be closed in the reverse order of opening."""

    def __init__(self):
        super().__init__()
        self.root = self.at = Node("root", [], None)

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        node = Node(tag, attributes, self.at)
        self.at.children.append(node)
        self.at.own.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.own.append(data)


def parse(text):
    parser = Parser()
    parser.feed(text)
    parser.close()
    assert parser.at is parser.root, f"<{parser.at.tag}> is not closed"
    return parser.root


def check_alone(text, root, steps=False):
    """Checks that the page loads nothing else. `steps`: it contains a stepper's script and data."""
    scripts = list(root.all("script"))
    assert bool(scripts) == steps, "a script"
    for script in scripts:
        assert set(script.attributes) <= {"type"}, "a script from elsewhere"
    assert not re.search(r"\bsrc=|@import|url\(|https?://", text.replace("http://www.w3.org/", "")), (
        "something from elsewhere"
    )
    for node in root.all("link"):
        assert node.attributes["href"] == "data:,", node.attributes["href"]


def check_access(root, pages=()):
    """Checks that each picture has a name, a description and a table, that links lead to an id or to one of the
    `pages` of the same folder, and that ids are unique."""
    ids = [node.attributes["id"] for node in walk(root) if "id" in node.attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    for link in root.all("a"):
        to = link.attributes["href"]
        assert to in pages or (to[0] == "#" and to[1:] in ids), f"{to} leads nowhere"
    for figure in root.all("figure"):
        svg = figure.first("svg")
        assert svg.attributes["role"] == "img"
        for label in svg.attributes["aria-labelledby"].split():
            assert label in ids, label
        assert svg.first("title").text().strip() and svg.first("desc").text().strip()
        assert len(list(figure.first("table").all("tr"))) > 1, "a picture without its table"
    for table in root.all("table"):
        assert table.first("caption").text().strip()
        columns = len(list(table.first("thead").all("th")))
        for row in table.first("tbody").all("tr"):
            assert len(row.children) == columns, f"{table.first('caption').text()}: {row.text()}"


def steps_of(root):
    """The data of each stepper of a page, after a check of their consistency."""
    data = []
    for node in root.all("script"):
        if node.attributes.get("type") == "application/json":
            data.append(json.loads(node.text()))
            check_steps(data[-1]["trace"])
    return data


def check_steps(trace):
    """Checks that the virtual GPU's sectors and wavefronts match those computed from the addresses."""
    for warp in trace["warps"]:
        assert len(warp["steps"]) <= 500 and warp["shown"] <= warp["instructions"], warp["warp"]
        for step in warp["steps"]:
            assert step[0] < len(trace["places"]) and step[2][0] < len(trace["ops"])
            cells = -(-trace["shared"] // trace["cell"])
            assert all(first + count <= cells for first, count in zip(step[3][::2], step[3][1::2]))
            if len(step) < 6:
                continue
            shared, _, size, lanes, units, base, offsets, _ = step[5]
            active = [lane for lane in range(32) if lanes >> lane & 1]
            if isinstance(offsets, int):
                offsets = [offsets * (lane - active[0]) for lane in range(32)]
            if not shared:
                sectors = {
                    at // 32
                    for lane in active
                    for at in range(base + offsets[lane], base + offsets[lane] + size)
                }
                assert len(sectors) == units, (trace["ops"][step[2][0]], len(sectors), units)


def walk(node):
    for child in node.children:
        yield child
        yield from walk(child)


def rows_of(table):
    """The rows of a table, each a list of cells as (text, number or None)."""
    rows = []
    for row in table.first("tbody").all("tr"):
        cells = []
        for cell in row.children:
            data = cell.first("data")
            cells.append((cell.text(), float(data.attributes["value"]) if data else None))
        rows.append(cells)
    return rows


def size_of(entry):
    m, n, k = entry["m"], entry["n"], entry["k"]
    if m is None:
        return f"{n:,}".replace(",", "\u00a0") if n >= 10000 else str(n)
    return f"{n}³" if m == n == k else f"{m}×{n}×{k}"


def same(shown, wanted, what):
    assert (shown is None) == (wanted is None), f"{what}: {shown}, not {wanted}"
    if wanted is not None:
        assert math.isclose(shown, wanted, rel_tol=1e-12), f"{what}: {shown}, not {wanted}"


def check_row(cells, headings, entry):
    values = dict(zip(headings, (value for _, value in cells)))
    rate = "gflops" if entry["op"] == "gemm" else "gbps"
    what = f"{entry['rung']} at {size_of(entry)}"
    same(values["time"], entry["seconds"]["median"], what + ", time")
    same(values["GFLOP/s" if rate == "gflops" else "GB/s"], entry[rate], what + ", rate")
    same(values["of the ceiling"], entry.get("ceiling", {}).get("ratio"), what + ", ceiling")
    if "speed-up" in values:
        same(values["speed-up"], entry.get("previous", {}).get("ratio"), what + ", speed-up")
    for heading in headings:
        peer = re.fullmatch(r"vs (\w+)", heading)
        if peer and peer[1] in entry["peers"]:
            same(values[heading], entry["peers"][peer[1]].get("ratio"), f"{what}, {heading}")


def device_key(entry):
    threads = 0 if entry["device"].startswith("gpu") else entry["threads"]
    return entry["device"], entry["dtype"], threads, entry["op"]


def section_entries(section, entries):
    """The entries of the study that the section is about."""
    name = section.first("h2").text()
    match = re.match(r"(\w+) (\w+)(?:, (\d+) threads?)?", name)
    device = section.first("p").text()
    key = (device, match[2], int(match[3] or 0), match[1])
    return [entry for entry in entries if device_key(entry) == key]


def check_figures(root, entries):
    """Checks that every row of each ladder and library is an entry of the JSON; returns the number of rows."""
    count = 0
    for section in root.all("section"):
        if not section.attributes["id"].startswith("study"):
            continue
        mine = section_entries(section, entries)
        assert mine, section.first("h2").text()
        for table in section.all("table"):
            caption = table.first("caption").text()
            headings = [cell.text() for cell in table.first("thead").all("th")]
            ladder = re.fullmatch(r"The ladder at (.+)", caption)
            library = caption.startswith("The library, with")
            if not ladder and not library:
                continue
            for cells in rows_of(table):
                name = cells[0][0]
                if "geometric mean" in name:
                    continue
                found = [
                    entry
                    for entry in mine
                    if entry["seconds"]
                    and (
                        entry["rung"].endswith("/" + name) and size_of(entry) == ladder[1]
                        if ladder
                        else entry["rung"] == "library" and size_of(entry) == name
                    )
                ]
                assert found, f"{name} of {caption}: not in the JSON"
                errors = []
                for entry in found:  # a size may have been measured twice
                    try:
                        check_row(cells, headings, entry)
                        break
                    except AssertionError as error:
                        errors.append(error)
                else:
                    raise errors[-1]
                count += 1
    return count


def read_results(files):
    """The results of files in JSON Lines, without draws of random shapes."""
    entries = []
    for file in files:
        head, *lines = map(json.loads, pathlib.Path(file).read_text().splitlines())
        if "random" not in head:
            entries += [{**head.get("common", {}), **line} for line in lines]
    return entries


def check(text, files):
    """Checks a page and returns its tree. Raises AssertionError with a description of the first error."""
    root = parse(text)
    check_alone(text, root)
    check_access(root)
    assert check_figures(root, read_results(files)) > 0, "no figures"
    return root
