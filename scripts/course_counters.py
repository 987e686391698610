"""The tables of counters in course/, from the virtual GPU.

    course_counters.py PROGRAM FOLDER            rewrite the tables in the chapters of FOLDER
    course_counters.py PROGRAM FOLDER --check    print the chapters whose tables differ; the exit status is 1 if there are any

A table is enclosed by `<!-- counters: RUNG RUNG ... OPTIONS -->` and `<!-- end of counters -->`. It has a column for
each rung, from `rung trace RUNG OPTIONS --code clang`.

Every number of the text with a comma, a point or a percent sign must be in the table, or be a counter of one of its
rungs, or be named in a comment: `<!-- numbers: 77 % = r05.fmas / r05.instructions; 8,192 = ... -->`, whose formulas are
computed, or `<!-- other numbers: 4.8 -->`, which do not come from counters.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys
import types

BLOCK = re.compile(r"<!-- counters: (.*?) -->\n.*?<!-- end of counters -->", re.DOTALL)


@functools.cache
def trace(program, rung, options):
    """Returns the counters of a run, summed over its kernels."""
    # One thread: blocks that poll for others in a loop count each poll.
    command = [program, "trace", rung, *options, "--code", "clang", "--threads", "1", "--json", "-"]
    output = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    total = {}
    for kernel in output["kernels"]:
        blocks = kernel["grid"][0] * kernel["grid"][1] * kernel["grid"][2]
        warps = -(-kernel["block"][0] * kernel["block"][1] * kernel["block"][2] // 32)
        for name, count in {**kernel["counters"], "blocks": blocks, "warps": blocks * warps}.items():
            total[name] = total.get(name, 0) + count
    total["launches"] = len(output["kernels"])
    total["shared"] = max(kernel["shared"] for kernel in output["kernels"])
    total["fmas"] = total["ffma"] // 32
    return total


def ratio(x, by, digits=3):
    return "–" if by == 0 else f"{x / by:.{digits}g}"


ROWS = [
    ("launches, blocks", lambda c: f"{c['launches']}, {c['blocks']}"),
    ("warp instructions", lambda c: f"{c['instructions']:,}"),
    ("global loads", lambda c: f"{c['global_load_requests']:,}"),
    ("sectors of each", lambda c: ratio(c["global_load_sectors"], c["global_load_requests"])),
    ("global stores", lambda c: f"{c['global_store_requests']:,}"),
    ("sectors of each store", lambda c: ratio(c["global_store_sectors"], c["global_store_requests"])),
    ("shared loads", lambda c: f"{c['shared_load_requests']:,}"),
    ("wavefronts of each", lambda c: ratio(c["shared_load_wavefronts"], c["shared_load_requests"])),
    ("shared stores", lambda c: f"{c['shared_store_requests']:,}"),
    ("wavefronts of each store", lambda c: ratio(c["shared_store_wavefronts"], c["shared_store_requests"])),
    ("bulk copies", lambda c: f"{c['bulk_loads']:,}"),
    ("barriers of a warp", lambda c: ratio(c["barriers"], c["warps"])),
    ("divergent branches", lambda c: f"{c['divergent_branches']:,}"),
    ("lanes at work", lambda c: ratio(c["thread_instructions"], c["instructions"])),
    ("atomics", lambda c: f"{c['global_atomics']:,}"),
]


def rungs_and_options(words):
    return [word for word in words if "/" in word], tuple(word for word in words if "/" not in word)


def table(program, words):
    rungs, options = rungs_and_options(words)
    counters = [trace(program, rung, options) for rung in rungs]
    lines = ["| | " + " | ".join(rungs) + " |", "| --- |" + " ---: |" * len(rungs)]
    for name, value in ROWS:
        cells = [value(count) for count in counters]
        if any(cell not in ("0", "–") for cell in cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    traced = f"`rung trace RUNG {' '.join(options)} --code clang`"
    return f"{traced} counts, in instructions of warps:\n\n" + "\n".join(lines)


NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?: %)?")


def numbers_of(text):
    """The numbers with a comma, a point or a percent sign, outside of tables, code, comments and links."""
    text = re.sub(r"<!-- counters.*?<!-- end of counters -->|```.*?```|<!--.*?-->|`[^`]*`", "", text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    found = [match.rstrip(",") for match in NUMBER.findall(re.sub(r"\s+", " ", text))]
    return {number for number in found if re.search(r"[,.%]", number)}


def shown(value, number):
    """The value in the form of a number of the text."""
    percent = number.endswith("%")
    decimals = len(number.removesuffix(" %").partition(".")[2])
    return f"{value * (100 if percent else 1):,.{decimals}f}" + (" %" if percent else "")


def wrong_numbers(program, text):
    """The numbers of a chapter that are not what is counted."""
    known, counters = set(), {}
    for match in BLOCK.finditer(text):
        rungs, options = rungs_and_options(match[1].split())
        for rung in rungs:
            counted = trace(program, rung, options)
            counters["r" + rung.split("/")[-1]] = types.SimpleNamespace(**counted)
            known |= {f"{count:,}" for count in counted.values()}
        known |= set(re.findall(r"[\d,.]+", table(program, match[1].split())))
    for words in re.findall(r"<!-- other numbers: (.*?) -->", text, flags=re.S):
        known |= {number.strip() for number in words.split(";")}
    counters["trace"] = lambda rung, *options: types.SimpleNamespace(**trace(program, rung, options))
    wrong = []
    for words in re.findall(r"<!-- numbers: (.*?) -->", text, flags=re.S):
        for statement in words.split(";"):
            number, formula = (side.strip() for side in statement.split(" = ", 1))
            known.add(number)
            value = eval(formula, {"__builtins__": {}}, counters)
            if shown(value, number) != number:
                wrong.append(f"{number} is {shown(value, number)}")
    return wrong + [f"{number} is no counter" for number in sorted(numbers_of(text) - known)]


def main():
    program, folder, check = sys.argv[1], pathlib.Path(sys.argv[2]), "--check" in sys.argv
    wrong, numbers = [], []
    for path in sorted(folder.glob("*/README.md")):
        text = path.read_text(encoding="utf-8")
        filled = BLOCK.sub(
            lambda match: f"<!-- counters: {match[1]} -->\n{table(program, match[1].split())}\n<!-- end of counters -->",
            text,
        )
        numbers += [f"{path.parent.name}: {number}" for number in wrong_numbers(program, filled)]
        if filled == text:
            continue
        wrong.append(path.parent.name)
        if not check:
            path.write_text(filled, encoding="utf-8")
    if check and wrong:
        print("counters differ, run scripts/course_counters.py:", ", ".join(wrong))
    for number in numbers:
        print(number)
    return 1 if numbers or (check and wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
