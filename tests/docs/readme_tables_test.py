"""scripts/readme_tables.py on a project of one page and one file of results: readme_tables_test.py RUNG"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNG = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "readme_tables.py"


def entry(rung, m, n, k, gflops, **more):
    return {
        "rung": rung, "op": "gemm", "dtype": "f32", "m": m, "n": n, "k": k, "threads": 1,
        "device": "cpu CPU", "operands": "warm", "seconds": {"median": 1.0}, "gflops": gflops, "gbps": 1.0,
        "ceiling": {"name": "f32 multiply-add", "gflops": 100.0, "ratio": gflops / 100}, "verified": True,
        "peers": {}, **more,
    }  # fmt: skip


def peers(ratio):
    return {"fast": {"seconds": 1.0, "ratio": ratio}, "absent": {"seconds": None, "ratio": None}}


def draw(layout, ratio):
    return {"dtype": "f32", "layout": layout, "m": 8, "n": 8, "k": 8, "flops": 1024.0, "bytes": 768.0, "ratio": ratio}


MACHINE = {
    "model": "CPU", "isa": "avx2", "cores": 2, "os": "OS", "compiler": "CC", "version": "1",
    "commit": "abc", "date": "2000-01-02T03:04:05Z",
    "peers": {"fast": {"version": "9", "kernels": "best"}},
}  # fmt: skip
UNTIMED = {"seconds": None, "gflops": None, "skipped": "would take about 60 s"}
RESULTS = [
    entry("gemm/cpu/00_a", 64, 64, 64, 0.5),
    entry("gemm/cpu/01_b", 64, 64, 64, 5.25, previous={"rung": "00_a", "ratio": 10.5}),
    entry("library", 64, 64, 64, 50, chose="gemm/cpu/01_b", peers=peers(2.0)),
    {**entry("gemm/cpu/00_a", 128, 128, 128, 0), **UNTIMED},
    entry("gemm/cpu/01_b", 128, 128, 128, 7),
    entry("library", 128, 128, 128, 123.4, chose="gemm/cpu/01_b", peers=peers(0.5)),
    entry("library", 1, 128, 128, 8, chose="gemm/cpu/01_b", peers=peers(0.0625)),
]

PAGE = """before
<!-- table: gemm-f32-1t {kind} -->
<!-- end of table -->
after
"""


class ReadmeTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write_results("cpu-one", RESULTS)

    def write_results(self, machine, results):
        folder = self.root / "results" / machine
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"machine": MACHINE, "results": results})
        (folder / "gemm-f32-1t.json").write_text(text)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, "--rung", RUNG, "--root", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def fill(self, kind, name="gemm-f32-1t"):
        page = self.root / "README.md"
        page.write_text(PAGE.format(kind=kind).replace("gemm-f32-1t", name))
        done = self.run_script()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_script("--check").returncode, 0)
        before, *lines, after = page.read_text().splitlines()
        self.assertEqual((before, after), ("before", "after"))
        return lines[1:-1]

    def test_random(self):
        for seed, ratios in ((1, [2.0, 0.5]), (2, [1.0, None])):
            run = {"device": "cpu CPU", "seed": seed, "threads": 2, "max_size": 128}
            lines = [{"machine": MACHINE, "random": run}, *(draw("nn", one) for one in ratios)]
            text = "\n".join(map(json.dumps, lines))
            (self.root / f"results/cpu-one/random-seed{seed}.jsonl").write_text(text)
        lines = self.fill("random", "cpu-one/random-*")
        self.assertEqual(lines[2:], ["| f32 | 2 | 128 | 1.00 | 1.00 | 0.55 | 0.50 | 3 |"])

    def test_headline(self):
        library = {"device": "gpu GPU", "chose": "gemm/cuda/31_a"}
        old = entry("library", 4096, 4096, 4096, 5e5, **library, peers=peers(9.0))
        new = entry("library", 4096, 4096, 4096, 728074.98, **library, peers={"a": peers(0.9924)["fast"], "b": peers(0.5)["fast"]})
        split = {**new, "math": "split", "gflops": 9e5}
        for name, date, results in (("new", "2000-03-04", [new, split]), ("old", "2000-01-02", [old])):
            machine = {**MACHINE, "date": date + "T03:04:05Z", "commit": name}
            text = json.dumps({"machine": machine, "results": results})
            (self.root / f"results/cpu-one/{name}.json").write_text(text)
        run = {"device": "gpu GPU", "seed": 1, "max_size": 128, "draws": [draw("nn", 2.0), draw("nt", 0.5), draw("nt", 1.0)]}
        text = json.dumps({"machine": MACHINE, "results": [], "random": run})
        (self.root / "results/cpu-one/random.json").write_text(text)
        lines = self.fill("headline", "cpu-one/new,cpu-one/old,cpu-one/random")
        self.assertEqual(
            lines,
            [
                "| type | 4096³ | 8192³ | random shapes, median | 5th percentile | shapes | measured |",
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
                "| f32 | 728 TFLOP/s, 0.50x | – | 1.00x | 0.55x | 3 | 2000-01-02 `abc`, 2000-03-04 `new` |",
            ],
        )

    def test_random_on_a_gpu(self):
        for seed in (1, 2):
            draws = [draw(layout, 2.0) for layout in ("nn", "nt")]
            run = {"device": "gpu GPU", "seed": seed, "max_size": 128, "draws": draws}
            text = json.dumps({"machine": MACHINE, "results": [], "random": run})
            (self.root / f"results/cpu-one/random-seed{seed}.json").write_text(text)
        lines = self.fill("random", "cpu-one/random-*")
        figures = "2.00 | 2.00 | 2.00 | 2.00 | 2 | 2 |"
        self.assertEqual(lines[2:], [f"| f32 | {layout} | {figures}" for layout in ("nn", "nt")])

    def test_reading(self):
        read = {"DRAM": {"one_thread": 2.0, "all_threads": 4.0}}
        machine = {**MACHINE, "ceilings": {"read": read}}
        results = [entry("library", 1, 128, 128, 8, chose="gemm/cpu/13_c", peers=peers(0.5))]
        text = "\n".join(map(json.dumps, [{"machine": machine}, *results]))
        (self.root / "results/cpu-one/gemv.jsonl").write_text(text)
        lines = self.fill("reading", "gemv")
        self.assertEqual(lines[0], "| size | rung | GB/s | of 2.00 GB/s | vs fast |")
        self.assertEqual(lines[2:], ["| 1×128×128 | 13_c | 1.00 | 50 % | 0.50x |"])

    def complaint(self, page_text, *arguments):
        (self.root / "README.md").write_text(page_text)
        done = self.run_script(*arguments)
        self.assertEqual(done.returncode, 1)
        self.assertEqual((self.root / "README.md").read_text(), page_text)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_ladder_is_of_the_largest_size_that_every_rung_ran(self):
        self.assertEqual(
            self.fill("ladder"),
            [
                "| rung, at 64³ | GFLOP/s | speed-up | of the ceiling |",
                "| --- | ---: | ---: | ---: |",
                "| 00_a | 0.500 | – | 0.5 % |",
                "| 01_b | 5.25 | 10.50x vs 00 | 5.2 % |",
            ],
        )

    def test_library_has_every_size_every_peer_that_ran_and_means(self):
        self.assertEqual(
            self.fill("library"),
            [
                "| size | rung | GFLOP/s | of the ceiling | vs fast |",
                "| --- | ---: | ---: | ---: | ---: |",
                "| 64³ | 01_b | 50.0 | 50 % | 2.00x |",
                "| 128³ | 01_b | 123 | 123 % | 0.50x |",
                "| 1×128×128 | 01_b | 8.00 | 8.0 % | 0.062x |",
                "| **square, geometric mean** |  |  |  | **1.00x** |",
            ],
        )

    def test_products_stand_beside_plain_ones_and_short_calls_are_timed_in_graphs(self):
        more = {"device": "gpu GPU", "math": "standard", "epilogue": "bias", "dtype": "bf16"}
        in_graph = {"seconds": 2e-5, "ratio": 3.0, "graph_ratio": 1.5}
        results = [
            entry("gemm/cuda/31_a", 8, 8, 8, 500, **more, graph_seconds={"median": 0.3}),
            entry("library", 8, 8, 8, 1000, **more, graph_seconds={"median": 0.5}, peers={"fast": in_graph}),
            entry("library", 16, 8, 8, 1000, **more, peers=peers(6.0)),
        ]
        folder = self.root / "results/gpu-one"
        folder.mkdir()
        machine = {**MACHINE, "gpu": {"name": "GPU", "ceilings": {"memory_read": 4.0}}}
        for name, weights in (("a", {}), ("b", {"weights": "int4"})):
            text = json.dumps({"machine": machine, "results": [{**one, **weights} for one in results]})
            (folder / f"{name}.json").write_text(text)
        page = PAGE.format(kind="products").replace("gemm-f32-1t", "gpu-one/a,gpu-one/b")
        (self.root / "README.md").write_text(page)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual(
            (self.root / "README.md").read_text().splitlines()[4:8],
            [
                "| bf16, bias | 8³ | 500000 | 2.00 | – | 0.60x | 1.50x fast |",
                "| bf16, bias | 16×8×8 | 1000000 | 1.00 | – | – | 6.00x fast |",
                "| **geometric mean** |  |  |  |  |  | 3.00x fast |",
                "| bf16, bias, int4 | 8³ | 500000 | 2.00 | 50 % | 0.60x | 1.50x fast |",
            ],
        )

    def test_summary_has_a_row_for_each_file_and_a_mean_for_each_peer(self):
        gpu = [
            {**one, "dtype": "bf16", "device": "gpu GPU"} for one in RESULTS if one["rung"] == "library"
        ][:1]  # fmt: skip
        del gpu[0]["ceiling"]
        folder = self.root / "results/gpu-one"
        folder.mkdir()
        machine = {**MACHINE, "gpu": {"name": "GPU"}}
        (folder / "gemm-bf16.json").write_text(json.dumps({"machine": machine, "results": gpu}))
        page = PAGE.format(kind="summary").replace("f32-1t", "f32-1t,gpu-one/gemm-bf16")
        (self.root / "README.md").write_text(page)
        self.assertEqual(self.run_script().returncode, 0)
        lines = (self.root / "README.md").read_text().splitlines()
        self.assertEqual(
            lines[2:-2],
            [
                "| library | device | of the ceiling, at best | square sizes | oblong sizes |",
                "| --- | --- | --- | --- | --- |",
                "| gemm f32, 1 thread | CPU | 123 % | 1.00x vs fast | 0.062x vs fast |",
                "| gemm bf16 | GPU | – | 2.00x vs fast | – |",
            ],
        )
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_summary_of_a_missing_file(self):
        page = PAGE.format(kind="summary").replace("f32-1t", "f32-1t,gpu-one/gemm-bf16")
        (self.root / "README.md").write_text(page)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("Not measured yet.", (self.root / "README.md").read_text())

    def test_machine(self):
        self.assertEqual(
            self.fill("machine"),
            [
                "CPU (avx2, 2 cores), f32, 1 thread, warm operands; OS; CC. Peers: fast 9 (best). "
                "rung 1 at commit abc, 2000-01-02."
            ],
        )

    def test_machine_with_a_gpu(self):
        gpu = {"name": "GPU", "multiprocessors": 3, "max_clock_mhz": 4, "power_limit_watts": 5.0,
               "driver": "6", "cuda": "7"}  # fmt: skip
        peers = {"fast": {"version": "9", "kernels": "best", "note": "pedantic"}}
        machine = {**MACHINE, "gpu": gpu, "peers": peers}
        results = [{**entry("library", 64, 64, 64, 50), "device": "gpu GPU"}]
        (self.root / "results/cpu-one/gemm-f32-1t.json").write_text(
            json.dumps({"machine": machine, "results": results})
        )
        self.assertEqual(
            self.fill("machine"),
            [
                "GPU (3 SMs, at most 4 MHz, 5 W), driver 6, CUDA 7, f32, warm operands; "
                "OS; CC. Peers: fast 9 (pedantic). rung 1 at commit abc, 2000-01-02."
            ],
        )

    def test_no_results(self):
        (self.root / "results/cpu-one/gemm-f32-1t.json").unlink()
        self.assertEqual(self.fill("library"), ["Not measured yet."])

    def test_check_tells_of_a_stale_table_and_leaves_it(self):
        self.fill("library")
        changed = copy.deepcopy(RESULTS)
        changed[2]["gflops"] = 51
        self.write_results("cpu-one", changed)
        text = (self.root / "README.md").read_text()
        self.assertIn("README.md: gemm-f32-1t library: does not match results/", self.complaint(text, "--check"))

    def test_folder_tells_machines_apart(self):
        self.write_results("cpu-two", RESULTS)
        self.assertIn("cpu-one, cpu-two", self.complaint(PAGE.format(kind="library")))
        page = PAGE.format(kind="library").replace("gemm", "cpu-two/gemm")
        (self.root / "README.md").write_text(page)
        self.assertEqual(self.run_script().returncode, 0)

    def test_bad_pages_and_results(self):
        self.assertIn("'plot' is not one of", self.complaint(PAGE.format(kind="plot")))
        self.assertIn("up to", self.complaint("<!-- table: gemm-f32-1t library -->\n"))
        self.write_results("cpu-one", RESULTS[3:4])
        self.assertIn("every rung was timed", self.complaint(PAGE.format(kind="ladder")))
        self.write_results("cpu-one", [{"rung": "library"}])
        self.assertIn("not what rung bench writes", self.complaint(PAGE.format(kind="library")))


if __name__ == "__main__":
    unittest.main()
