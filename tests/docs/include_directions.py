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
    "kernels": ["include", "src/core"],
    "src/core": ["include"],
    "src/json": [],
    "src/shared_library": [],
    "src/cuda_driver": ["src/shared_library"],
    "src/backends": ["kernels", "src/core", "src/cuda_driver", "src/vgpu", "src/vgpu/driver", "src/vgpu/model"],
    "src/library": ["include", "kernels", "src/backends", "src/core", "src/cuda_driver"],
    "src/dist": ["include", "src/cuda_driver", "src/shared_library"],
    "src/measure": [
        "include", "kernels", "src/backends", "src/core", "src/cuda_driver", "src/json", "src/library",
        "src/shared_library",
    ],
    "src/analysis": [
        "kernels", "src/backends", "src/core", "src/json", "src/vgpu", "src/vgpu/driver", "src/vgpu/model",
        "src/vgpu/program", "src/vgpu/ptx",
    ],
    "src/report": [
        "src/analysis", "src/backends", "src/core", "src/json", "src/measure", "src/vgpu",
        "src/vgpu/model",
    ],
    "src/emu": ["include", "src/cuda_driver", "src/report", "src/vgpu", "src/vgpu/driver", "src/vgpu/ptx"],
    "src/kernel_file": [
        "kernels", "src/analysis", "src/backends", "src/core", "src/emu", "src/measure", "src/shared_library",
        "src/vgpu/driver",
    ],
    "src/learn": [
        "src/analysis", "src/backends", "src/core", "src/emu", "src/vgpu", "src/vgpu/model", "src/vgpu/ptx",
    ],
    "apps": [
        "include", "kernels", "src/analysis", "src/backends", "src/core", "src/cuda_driver", "src/emu",
        "src/kernel_file", "src/learn", "src/measure", "src/report", "src/shared_library",
        "src/vgpu/model", "src/vgpu/ptx",
    ],
    # The virtual GPU, from the bottom to the top.
    "src/vgpu/model": ["kernels"],
    "src/vgpu/memory": [],
    "src/vgpu/frontends": [],
    "src/vgpu/happens_before": ["src/vgpu/memory", "src/vgpu/model"],
    "src/vgpu/ptx": ["src/vgpu/model"],
    "src/vgpu/program": ["src/vgpu/model", "src/vgpu/ptx"],
    "src/vgpu/engine": [
        "include", "kernels", "src/vgpu/happens_before", "src/vgpu/memory", "src/vgpu/model", "src/vgpu/ptx",
    ],
    "src/vgpu/lowering": ["src/vgpu/engine", "src/vgpu/model", "src/vgpu/program", "src/vgpu/ptx"],
    "src/vgpu/native": ["kernels", "src/vgpu/engine", "src/vgpu/model"],
    "src/vgpu/observers": [
        "src/vgpu/engine", "src/vgpu/happens_before", "src/vgpu/memory", "src/vgpu/model",
    ],
    "src/vgpu": [  # launch.hpp: loading modules and launching kernels
        "src/vgpu/engine", "src/vgpu/lowering", "src/vgpu/memory", "src/vgpu/model", "src/vgpu/native",
        "src/vgpu/observers", "src/vgpu/ptx",
    ],
    "src/vgpu/driver": ["src/cuda_driver", "src/vgpu", "src/vgpu/model", "src/vgpu/ptx"],
}

# The search path of quoted includes, after the folder of the including file.
SEARCHED = ["src", "include", "kernels", "."]
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
    for top in ("apps", "include", "kernels", "src"):
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
