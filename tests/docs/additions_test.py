"""Adding a library kernel, an element type or a PTX instruction touches few files (docs/contributing.md). An existing
one shows it: the test counts the files, outside tests and measured data, that name it."""

import collections
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).parent.parent.parent
SOURCES = {".cmake", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc", ".def"}
FOLDERS = ["apps", "backends", "cmake", "core", "emu/compile", "emu/runtime", "kernels", "ladder", "library", "select", "tools",
           "vgpu"]


def read(path: pathlib.Path) -> str:
    """The text without comments."""
    return re.sub(r"//.*", "", path.read_text())


TEXTS = {
    path.relative_to(PROJECT).as_posix(): read(path)
    for folder in FOLDERS
    for path in (PROJECT / folder).rglob("*")
    if path.suffix in SOURCES and "tests" not in path.parts
}


def naming(pattern: str, files=TEXTS) -> list[str]:
    return sorted(file for file in files if re.search(pattern, TEXTS[file]))


class Additions(unittest.TestCase):
    def test_a_library_kernel_takes_five_files(self):
        """The kernel, its list, a cost header, and the rule that chooses it."""
        for kernel in ["any_operands", "batched_fma", "fma_tiles", "ping_pong", "rank_k", "short_k", "skinny_mma",
                       "wgmma_tiles"]:
            files = [f for f in naming(rf"gemm(/cuda/|_cuda_|_){kernel}\b|KERNEL\({kernel}\)|GEMM\w*\({kernel}\b")
                     if f != "core/former_ids.hpp"]
            self.assertIn(f"kernels/gemm/cuda/{kernel}.cu", files)
            self.assertIn("select/cuda/tables.hpp", files)
            self.assertLessEqual(len(files), 5, files)

    def test_an_element_type_takes_eight_files(self):
        """Every new type needs these seven files, and a kernel. Further decisions (the public interface, results of
        an epilogue, peers, the virtual GPU) are not counted."""
        types = {f"include/rung/{name}": read(PROJECT / "include/rung" / name)
                 for name in ["storage_types.hpp", "types.hpp"]}
        TEXTS.update(types)
        device = "kernels/device/cuda/"
        needed = [f for f in TEXTS if f in types or f.startswith(("core/", "backends/", "select/", device))
                  and not f.startswith(device + "epilogue/")]
        files = naming(r"(?<![a-z0-9_])e5m2\b|\bfloat8_e5m2\b", needed)
        self.assertEqual(files, ["core/element_types.hpp", "core/random.hpp", "include/rung/storage_types.hpp",
                                 "include/rung/types.hpp", "kernels/device/cuda/ptx/wgmma.cuh",
                                 "kernels/device/cuda/types.cuh", "select/cuda/tables.hpp"])

    def test_an_instruction_takes_four_files(self):
        """The row, the handler, and at most a translation and a function for kernels."""
        rows = re.findall(r'RUNG_PTX_INSTRUCTION\((\w+), *"(\w+)"', TEXTS["vgpu/ptx/instructions.def"])
        files = collections.defaultdict(set)
        for file, text in TEXTS.items():
            for found in re.finditer(r'Opcode::(\w+)|"(\w+)[."]|\((\w+), ', text):
                files[found[found.lastindex]].add(file)
        counts = {name: len(files[id] | files[name]) for id, name in rows}
        for name in ["bfe", "bfind", "brev", "copysign", "dp2a", "dp4a", "fns", "mad24", "movmatrix", "popc", "prmt",
                     "redux", "sad", "shf", "szext", "tanh", "testp"]:
            self.assertLessEqual(counts[name], 4, name)
        few = [name for name, count in counts.items() if count <= 4]
        self.assertGreater(2 * len(few), len(counts))


if __name__ == "__main__":
    unittest.main()
