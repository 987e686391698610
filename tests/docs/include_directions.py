"""Checks the direction of includes between folders (docs/architecture.md).

    include_directions.py ROOT    print every include that is not allowed; the exit status is 1 if there is any
"""

import os
import re
import sys

# For each folder, the other folders that its files may include. A folder without an entry may include none.
# The test rejects cycles.
ALLOWED = {
    "include": [],
    "kernels": ["include", "core"],
    "ladder": ["kernels"],
    "core": ["include"],
    "core/json": [],
    "core/shared_library": [],
    "core/cuda_driver": ["core/shared_library"],
    # The tables of all rungs, then what chooses from them.
    "backends/rungs": ["kernels", "ladder", "core"],
    "select": ["include", "core"],
    "select/cpu": ["include", "kernels", "backends/rungs", "core", "select"],
    "select/cuda": ["include", "kernels", "backends/rungs", "core", "select"],
    "backends": [
        "include", "kernels", "backends/rungs", "core", "core/cuda_driver", "select/cuda", "vgpu", "vgpu/driver",
        "vgpu/model",
    ],
    "library": [
        "include", "kernels", "backends", "backends/rungs", "core", "core/cuda_driver", "select", "select/cpu",
        "select/cuda",
    ],
    "library/dist": ["include", "core/cuda_driver", "core/shared_library"],
    "tools/measure": [
        "include", "kernels", "backends", "backends/rungs", "core", "core/cuda_driver", "core/json", "library",
        "core/shared_library", "select/cpu", "select/cuda",
    ],
    "tools/analysis": [
        "include", "kernels", "backends", "backends/rungs", "core", "core/json", "select/cuda", "vgpu", "vgpu/driver",
        "vgpu/model", "vgpu/program", "vgpu/ptx",
    ],
    "tools/report": [
        "tools/analysis", "backends/rungs", "core", "core/json", "tools/measure", "vgpu",
        "vgpu/model",
    ],
    "emu": ["include", "core", "core/cuda_driver", "tools/report", "vgpu", "vgpu/driver", "vgpu/model", "vgpu/ptx"],
    "emu/libraries": ["include", "core", "emu"],
    "tools/kernel_file": [
        "kernels", "tools/analysis", "backends", "backends/rungs", "core", "emu", "tools/measure", "core/shared_library",
        "vgpu/driver",
    ],
    "tools/any_kernel": [
        "include", "backends", "core", "emu", "tools/kernel_file", "vgpu", "vgpu/driver", "vgpu/memory", "vgpu/ptx",
    ],
    "tools/learn": [
        "tools/analysis", "backends", "core", "emu", "vgpu", "vgpu/model", "vgpu/ptx",
    ],
    "apps": [
        "include", "kernels", "tools/analysis", "backends", "backends/rungs", "core", "core/cuda_driver", "emu",
        "select/cuda",
        "tools/any_kernel", "tools/kernel_file", "tools/learn", "tools/measure", "tools/report", "core/shared_library",
        "vgpu", "vgpu/model", "vgpu/ptx",
    ],
    # The virtual GPU, from the bottom to the top.
    "vgpu/model": ["kernels"],
    "vgpu/memory": [],
    "vgpu/happens_before": ["vgpu/memory", "vgpu/model"],
    "vgpu/ptx": ["vgpu/model"],
    "vgpu/program": ["vgpu/model", "vgpu/ptx"],
    "vgpu/engine": [
        "include", "kernels", "vgpu/happens_before", "vgpu/memory", "vgpu/model", "vgpu/ptx",
    ],
    "vgpu/lowering": ["vgpu/engine", "vgpu/model", "vgpu/program", "vgpu/ptx"],
    "vgpu/native": ["kernels", "vgpu/engine", "vgpu/model"],
    "vgpu/observers": [
        "vgpu/engine", "vgpu/happens_before", "vgpu/memory", "vgpu/model",
    ],
    "vgpu": [  # launch.hpp: loading modules and launching kernels
        "vgpu/engine", "vgpu/lowering", "vgpu/memory", "vgpu/model", "vgpu/native",
        "vgpu/observers", "vgpu/ptx",
    ],
    "vgpu/driver": [
        "core/cuda_driver", "vgpu", "vgpu/happens_before", "vgpu/memory", "vgpu/model", "vgpu/ptx",
    ],
    "vgpu/tests": [
        "core", "core/cuda_driver", "vgpu", "vgpu/driver", "vgpu/engine", "vgpu/happens_before",
        "vgpu/lowering", "vgpu/memory", "vgpu/model", "vgpu/native", "vgpu/observers", "vgpu/program",
        "vgpu/ptx",
    ],
}

# The search path of quoted includes, after the folder of the including file.
SEARCHED = [".", "include", "kernels"]
SOURCES = (".h", ".hpp", ".cuh", ".inc", ".cpp", ".cu", ".mm", ".metal")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*"([^"\n]+)"', re.MULTILINE)


def folder_of(path):
    """The entry of ALLOWED that the file belongs to, the longest if there are several, or its own folder."""
    folder = os.path.dirname(path)
    while folder:
        if folder in ALLOWED:
            return folder
        folder = os.path.dirname(folder)
    return os.path.dirname(path)


def sources(root):
    for top in ("apps", "backends", "core", "emu", "include", "kernels", "ladder", "library", "select", "tools", "vgpu"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def target_of(root, path, included):
    """The file of the project that an include refers to; None for generated and external files."""
    for folder in [os.path.dirname(path)] + SEARCHED:
        found = os.path.normpath(os.path.join(folder, included))
        if os.path.isfile(os.path.join(root, found)):
            return found
    return None


def edges(root):
    """(file, line, included file, from folder, to folder) for every include of another folder."""
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        for match in INCLUDE.finditer(text):
            target = target_of(root, path, match.group(1))
            if target is not None and folder_of(path) != folder_of(target):
                line = text.count("\n", 0, match.start(1)) + 1
                yield path, line, target, folder_of(path), folder_of(target)


def violations(root):
    return [
        f"{path}:{line}: {start} may not include {end} ({target})"
        for path, line, target, start, end in edges(root)
        if end not in ALLOWED.get(start, [])
    ]


def cycle():
    """A cycle of folders, or an empty list."""

    def search(folder, way):
        if folder in way:
            return way[way.index(folder):] + [folder]
        for below in ALLOWED.get(folder, []):
            found = search(below, way + [folder])
            if found:
                return found
        return []

    return next((found for folder in ALLOWED if (found := search(folder, []))), [])


if __name__ == "__main__":
    found = violations(sys.argv[1])
    print("\n".join(found))
    sys.exit(1 if found else 0)
