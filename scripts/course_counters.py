"""The tables of counters in course/, from the virtual GPU.

    course_counters.py PROGRAM FOLDER            rewrite the tables in the chapters of FOLDER
    course_counters.py PROGRAM FOLDER --check    print the chapters whose tables differ; the exit status is 1 if there are any

A table is enclosed by `<!-- counters: RUNG RUNG ... OPTIONS -->` and `<!-- end of counters -->`. It has a column for
each rung, from `rung trace RUNG OPTIONS --code clang`.
"""

import json
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"<!-- counters: (.*?) -->\n.*?<!-- end of counters -->", re.DOTALL)


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


def table(program, words):
    rungs = [word for word in words if "/" in word]
    options = [word for word in words if "/" not in word]
    counters = [trace(program, rung, options) for rung in rungs]
    lines = ["| | " + " | ".join(rungs) + " |", "| --- |" + " ---: |" * len(rungs)]
    for name, value in ROWS:
        cells = [value(count) for count in counters]
        if any(cell not in ("0", "–") for cell in cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    traced = f"`rung trace RUNG {' '.join(options)} --code clang`"
    return f"{traced} counts, in instructions of warps:\n\n" + "\n".join(lines)


def main():
    program, folder, check = sys.argv[1], pathlib.Path(sys.argv[2]), "--check" in sys.argv
    wrong = []
    for path in sorted(folder.glob("*/README.md")):
        text = path.read_text(encoding="utf-8")
        filled = BLOCK.sub(
            lambda match: f"<!-- counters: {match[1]} -->\n{table(program, match[1].split())}\n<!-- end of counters -->",
            text,
        )
        if filled == text:
            continue
        wrong.append(path.parent.name)
        if not check:
            path.write_text(filled, encoding="utf-8")
    if check and wrong:
        print("counters differ, run scripts/course_counters.py:", ", ".join(wrong))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
