"""scripts/cuda_resources.py on reports of nvcc, one of them of a kernel that spills."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "cuda_resources.py"

REPORT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm_cuda_07_big_f64_1' for 'sm_90'
ptxas info    : Function properties for gemm_cuda_07_big_f64_1
    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, {stack} bytes cumulative stack size
ptxas info    : Compile time = 536.895 ms
ptxas info    : Compiling entry function 'gemm_cuda_07_big_f32_0' for 'sm_90'
ptxas info    : Function properties for gemm_cuda_07_big_f32_0
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 102 registers, used 1 barriers, 8448 bytes smem, 400 bytes cmem[0]
"""
PTX = """.visible .entry gemm_cuda_07_big_f32_0(
	.param .align 8 .b8 gemm_cuda_07_big_f32_0_param_0[104]
)
.maxntid 16, 8, 1
.minnctapersm 2
{
}
.visible .entry gemm_cuda_07_big_f64_1(
	.param .align 8 .b8 gemm_cuda_07_big_f64_1_param_0[104]
)
.maxntid 64
"""
SOURCE = """// gemm/cuda/07_big: big tiles.
// from: 06_small | removes: loads | bottleneck: registers{bottleneck}
// needs: sm_80 | try: rung trace gemm/cuda/07

code
"""


class CudaResources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.json = self.root / "cuda_resources.json"
        self.report = self.root / "gemm_cuda_07_big_cubin_90.resources"
        self.ptx = self.root / "gemm_cuda_07_big_nvcc_ptx_80"
        self.ptx.write_text(PTX)
        self.source = self.root / "gemm/cuda/07_big.cu"
        self.source.parent.mkdir(parents=True)
        self.source.write_text(SOURCE.format(bottleneck=""))

    def run_script(self, *arguments):
        command = [sys.executable, "-B", SCRIPT, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def record(self, stack=0, stores=0, loads=0):
        self.report.write_text(REPORT.format(stack=stack, stores=stores, loads=loads))
        return self.run_script("record", self.json, "--nvcc", "13.0", self.report, self.ptx)

    def check(self):
        done = self.run_script("check", self.json, "--kernels", self.root)
        return done.returncode, done.stderr

    def test_serialized_wgmma_is_refused(self):
        self.assertEqual(self.record().returncode, 0)
        warning = (
            "ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are "
            "serialized due to non wgmma instructions defining accumulator registers\n"
        )
        self.report.write_text(warning + self.report.read_text())
        done = self.run_script("record", self.json, "--nvcc", "13.0", self.report, self.ptx)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("instructions are serialized", done.stderr)

    def test_type_in_the_slug_is_not_part_of_the_kernels_type(self):
        self.report = self.root / "gemm_cuda_split_bf16_cubin_90a.resources"
        self.report.write_text(
            REPORT.format(stack=0, stores=0, loads=0).replace("07_big_f64", "split_bf16_bf16")
        )
        self.ptx.write_text(PTX.replace("07_big_f64", "split_bf16_bf16"))
        done = self.run_script("record", self.json, "--nvcc", "13.0", self.report, self.ptx)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        entries = [(e["dtype"], e["tile"]) for e in json.loads(self.json.read_text())]
        self.assertIn(("bf16", 1), entries)

    def test_record_has_an_entry_for_each_kernel(self):
        done = self.record(stack=24, stores=16, loads=20)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        common = {"rung": "gemm/cuda/07_big", "arch": "sm_90", "nvcc": "13.0"}
        self.assertEqual(
            json.loads(self.json.read_text()),
            [
                {
                    **common, "dtype": "f32", "tile": 0, "registers": 102, "max_threads": 128,
                    "spill_store_bytes": 0, "spill_load_bytes": 0, "stack_bytes": 0,
                    "shared_bytes": 8448, "dynamic_shared": False,
                },
                {
                    **common, "dtype": "f64", "tile": 1, "registers": 255, "max_threads": 64,
                    "spill_store_bytes": 16, "spill_load_bytes": 20, "stack_bytes": 24,
                    "shared_bytes": 0, "dynamic_shared": False,
                },
            ],
        )  # fmt: skip

    def test_shared_memory_of_the_launch(self):
        self.ptx.write_text(".extern .shared .align 16 .b8 dynamic[];\n" + PTX)
        self.record()
        self.assertTrue(json.loads(self.json.read_text())[0]["dynamic_shared"])

    def test_no_spill_is_right(self):
        self.record(stack=24)
        self.assertEqual(self.check(), (0, ""))

    def test_spill_fails_in_one_line(self):
        for stores, loads in ((16, 20), (0, 4), (4, 0)):
            self.record(stores=stores, loads=loads)
            status, complaint = self.check()
            self.assertEqual((status, complaint.count("\n")), (1, 1))
            self.assertIn("gemm/cuda/07_big (f64, tile 1, sm_90) spills", complaint)
            self.assertIn(f"{stores} bytes of stores and {loads} of loads", complaint)

    def test_spill_that_the_header_claims_is_right(self):
        self.record(stores=16, loads=20)
        self.source.write_text(SOURCE.format(bottleneck=", of which a thread\n//   spills some"))
        self.assertEqual(self.check(), (0, ""))

    def test_claim_outside_of_bottleneck_is_ignored(self):
        self.record(stores=16, loads=20)
        self.source.write_text(SOURCE.format(bottleneck="") + "// bottleneck: spills\n")
        self.assertEqual(self.check()[0], 1)

    def test_kernels_of_sums_lie_with_dot_products(self):
        self.report = self.root / "dot_cuda_07_big_cubin_90.resources"
        self.report.write_text(
            REPORT.replace("gemm_cuda", "sum_cuda").format(stack=0, stores=4, loads=4)
        )
        self.ptx.write_text(PTX.replace("gemm_cuda", "sum_cuda"))
        source = self.root / "dot/cuda/07_big.cu"
        source.parent.mkdir(parents=True)
        source.write_text(SOURCE.format(bottleneck="").replace("gemm/", "dot/"))
        self.run_script("record", self.json, "--nvcc", "13.0", self.report, self.ptx)
        self.assertEqual(json.loads(self.json.read_text())[0]["rung"], "sum/cuda/07_big")
        self.assertIn("sum/cuda/07_big (f64, tile 1, sm_90) spills", self.check()[1])
        source.write_text(SOURCE.format(bottleneck=", and it spills").replace("gemm/", "dot/"))
        self.assertEqual(self.check(), (0, ""))

    def test_spill_of_a_kernel_that_is_no_rung_fails(self):
        self.record(stores=16)
        self.source.unlink()
        self.assertEqual(self.check()[0], 1)

    def test_bad_reports(self):
        self.ptx.write_text("")
        self.assertIn("no .maxntid in PTX", self.record().stderr)
        self.report.write_text("")
        done = self.run_script("record", self.json, "--nvcc", "13.0", self.report, self.ptx)
        self.assertIn("not a report of nvcc", done.stderr)
        self.assertFalse(self.json.exists())


if __name__ == "__main__":
    unittest.main()
