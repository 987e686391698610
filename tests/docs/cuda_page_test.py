"""Tests of scripts/cuda_page.py on a project with two rungs."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "cuda_page.py"

RUNG = """// gemm/cuda/{slug}: one idea,
//   in two lines.
// from: nothing | removes: nothing | bottleneck: everything
// needs: {needs} | try: rung trace gemm/cuda
"""
LADDER = """before
<!-- ladder: gemm/cuda -->
<!-- end of ladder -->
after
"""
RESOURCES = LADDER.replace("ladder: gemm/cuda", "resources: gemm/cuda sm_90").replace(
    "ladder", "resources"
)


def entry(dtype, registers, threads, **more):
    return {
        "rung": "gemm/cuda/01_b", "dtype": dtype, "tile": None, "arch": "sm_90", "nvcc": "13.0",
        "registers": registers, "spill_store_bytes": 0, "spill_load_bytes": 0, "stack_bytes": 0,
        "shared_bytes": 1024, "max_threads": threads, "dynamic_shared": False, **more,
    }  # fmt: skip


ENTRIES = [
    entry("f32", 32, 256),
    entry("f64", 64, 128, shared_bytes=2048, spill_store_bytes=4, spill_load_bytes=8),
    entry("f32", 99, 256, tile=1, dynamic_shared=True),
    entry("bf16", 90, 256, rung="gemm/cuda/02_c", arch="sm_90a"),
    entry("f32", 1, 1, arch="sm_80"),
    entry("f32", 1, 1, rung="dot/cuda/01_b"),
]


class CudaPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        self.page = self.root / "docs/cuda.md"
        self.json = self.root / "cuda_resources.json"
        self.write_entries(ENTRIES)
        kernels = self.root / "ladder/gemm/cuda"
        kernels.mkdir(parents=True)
        (kernels / "rungs.inc").write_text("RUNG(00, a)\nRUNG(01, b)\n")
        for slug, needs in (("00_a", "nothing"), ("01_b", "sm_80")):
            (kernels / f"{slug}.cu").write_text(RUNG.format(slug=slug, needs=needs))

    def write_entries(self, entries):
        self.json.write_text(json.dumps(entries))

    def run_script(self, *arguments):
        command = [sys.executable, "-B", SCRIPT, "--root", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def fill(self, text, *arguments):
        self.page.write_text(text)
        done = self.run_script(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_script("--check", *arguments).returncode, 0)
        before, *lines, after = self.page.read_text().splitlines()
        self.assertEqual((before, after), ("before", "after"))
        return lines[1:-1]

    def test_ladder_is_in_order_and_from_the_headers(self):
        self.assertEqual(
            self.fill(LADDER),
            [
                "| rung | idea | removes | bottleneck | needs |",
                "| --- | --- | --- | --- | --- |",
                "| [00_a](../ladder/gemm/cuda/00_a.cu) | one idea, in two lines | nothing "
                "| everything |  |",
                "| [01_b](../ladder/gemm/cuda/01_b.cu) | one idea, in two lines | nothing "
                "| everything | sm_80 |",
            ],
        )

    def test_resources_have_a_row_for_each_tile(self):
        self.assertEqual(
            self.fill(RESOURCES, "--resources", self.json),
            [
                "nvcc 13.0, sm_90:",
                "",
                "| kernel | threads | f32 | f64 | bf16 | shared bytes | spilled bytes |",
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
                "| 01_b | 128–256 | 32 | 64 | – | 1024–2048 | 0–12 |",
                "| 01_b, tile 1 | 256 | 99 | – | – | at launch | 0 |",
                "| 02_c | 256 | – | – | 90 | 1024 | 0 |",
            ],
        )

    def test_check_tells_of_a_stale_table_and_leaves_it(self):
        for page, arguments, what in (
            (LADDER, [], "ladder: gemm/cuda"),
            (RESOURCES, ["--resources", self.json], "resources: gemm/cuda sm_90"),
        ):
            self.page.write_text(page)
            done = self.run_script("--check", *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
            self.assertIn(f"cuda.md: {what}: stale", done.stderr)
            self.assertEqual(self.page.read_text(), page)

    def test_resources_are_checked_against_the_same_nvcc_alone(self):
        self.fill(RESOURCES, "--resources", self.json)
        changed = [{**entry, "registers": 200} for entry in ENTRIES]
        self.write_entries(changed)
        self.assertEqual(self.run_script("--check", "--resources", self.json).returncode, 1)
        self.write_entries([{**entry, "nvcc": "14.0"} for entry in changed])
        self.assertEqual(self.run_script("--check", "--resources", self.json).returncode, 0)
        self.write_entries([])
        self.assertEqual(self.run_script("--check", "--resources", self.json).returncode, 0)

    def test_bad_pages(self):
        self.page.write_text(LADDER.replace("ladder", "plot"))
        self.assertIn("'plot' is neither", self.run_script().stderr)
        self.page.write_text(LADDER.replace("<!-- end of ladder -->\n", ""))
        self.assertIn("a table does not go", self.run_script().stderr)
        (self.root / "ladder/gemm/cuda/01_b.cu").write_text("// 01_b\n")
        self.page.write_text(LADDER)
        self.assertIn("01_b.cu: the header comment is not", self.run_script().stderr)


if __name__ == "__main__":
    unittest.main()
