#!/usr/bin/env python3
"""Tests parts of the site's generator on small inputs. Skipped (exit status 77) if its packages are missing.

parts_test.py PROJECT
"""

import os
import pathlib
import sys
import types
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
SYSTEM_PYTHON = "/usr/bin/python3"
sys.path.insert(0, str(PROJECT / "tools/site"))

try:
    import difference
    import glossary
    import links
    import prose
    import results
    import units
except ModuleNotFoundError as missing:
    if os.path.exists(SYSTEM_PYTHON) and not os.path.samefile(sys.executable, SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", sys.argv[0], str(PROJECT), *sys.argv[1:]])
    print(f"skipped: no module {missing.name} here; scripts/setup.sh site installs it")
    sys.exit(77)

Path = pathlib.PurePosixPath


def step(source, name="01_b.cu"):
    return types.SimpleNamespace(source=source, path=pathlib.PurePath(name))


class Units(unittest.TestCase):
    def test_rates_have_the_unit_that_people_use(self):
        for value, text in ((772827, "772.8 TFLOP/s"), (500.26, "500.3 GFLOP/s"), (1061319, "1,061 TFLOP/s"), (0.5, "500.0 MFLOP/s")):
            self.assertEqual(units.rate(value), text)

    def test_bandwidths_times_counts_and_sizes(self):
        self.assertEqual(units.bandwidth(3997.4), "4.00 TB/s")
        self.assertEqual(units.seconds(0.00442), "4.42 ms")
        self.assertEqual([units.count(n) for n in (12, 163840, 99960, 1.36e6)], ["12", "164 k", "100 k", "1.4 M"])
        self.assertEqual(units.size({"m": 4096, "n": 4096, "k": 4096}), "4096³")
        self.assertEqual(units.size({"m": 16, "n": 4096, "k": 64}), "16 × 4096 × 64")
        self.assertEqual(units.size({"m": None, "n": 1 << 24, "k": None}), "2²⁴ elements")


class Results(unittest.TestCase):
    def test_summary_of_ratios(self):
        found = results.summary([4.0, 1.0, 0.25])
        self.assertEqual((found["median"], found["worst"], found["best"], found["count"]), (1.0, 0.25, 4.0, 3))
        self.assertAlmostEqual(found["mean"], 1.0)
        self.assertAlmostEqual(found["p5"], 0.325)

    def test_only_verified_results_of_the_usual_call_count(self):
        usual = {"rung": "library", "verified": True}
        self.assertTrue(results.usual(usual))
        for other in ({"rung": "gemm/cuda/00_naive"}, {"math": "split"}, {"beta": 1.0}, {"verified": False}, {"operands": "cold"}):
            self.assertFalse(results.usual({**usual, **other}), other)


class Difference(unittest.TestCase):
    def test_lines_are_aligned_and_counted(self):
        before = step("// header\n\nint a;\nint b;\nint c;\n")
        after = step("// header\n// longer\n\nint a;\nint x;\nint y;\nint c;\n")
        rows = difference.rows(after, before, [])
        self.assertEqual(
            [(row["old"] and row["old"]["number"], row["new"] and row["new"]["number"], row["changed"]) for row in rows],
            [(3, 4, False), (4, 5, True), (None, 6, True), (5, 7, False)],
        )
        self.assertEqual(difference.lines_changed(after, before), (2, 1))

    def test_counters_of_a_line(self):
        line = {"line": "k/01_b.cu:2", "instructions": 30, "global_sectors": 4000, "bulk_sectors": 0, "shared_wavefronts": 0}
        other = {**line, "line": "tile.cuh:7", "instructions": 10, "global_sectors": 0}
        rows = difference.rows(step("int a;\nint b;\n"), None, [line, other])
        self.assertIsNone(rows[0]["counters"])
        self.assertEqual((rows[1]["counters"]["percent"], rows[1]["counters"]["sectors"]), ("75.0", "4.0 k"))
        self.assertEqual([line["place"] for line in difference.header_lines([line, other], "01_b.cu")], ["tile.cuh:7"])

    def test_aligned_continuation_lines_are_indented_little(self):
        lines = ["  call(first,", " " * 30 + "second,", " " * 30 + "third);", "  next;"]
        self.assertEqual(difference.shallow(lines), ["  call(first,", "      second,", "      third);", "  next;"])


class Links(unittest.TestCase):
    def resolve(self, page, target):
        return links.Links(PROJECT).resolve(Path(page), target)

    def test_links_lead_to_pages_of_the_site(self):
        self.assertEqual(self.resolve("docs/cuda.md", "../ladder/gemm/cuda/07_warp_tile.cu"), "../ladder/gemm/cuda/07_warp_tile.html")
        self.assertEqual(self.resolve("course/03_coalesced/README.md", "../04_shared_tile/README.md"), "04_shared_tile.html")
        self.assertEqual(self.resolve("README.md", "docs/cuda.md#tensor-cores"), "cuda.html#tensor-cores")
        self.assertEqual(self.resolve("docs/cuda.md", "../results/nvidia-h200"), "../benchmarks/index.html")

    def test_other_files_are_shown_as_source_or_copied(self):
        known = links.Links(PROJECT)
        self.assertEqual(known.resolve(Path("docs/cuda.md"), "../Makefile"), "../source/Makefile.html")
        self.assertEqual(known.sources, {Path("Makefile")})
        self.assertIsNone(known.resolve(Path("docs/cuda.md"), "../tools"))
        self.assertEqual(known.resolve(Path("docs/cuda.md"), "https://example.org/"), "https://example.org/")


class Prose(unittest.TestCase):
    words = glossary.Glossary("**warp**: 32 threads of a block. Guide, \"SIMT\".\n\n**bank conflict**: two words of a bank.\n\n")

    def render(self, text):
        terms = glossary.Terms(self.words, "../docs/glossary.html")
        page = prose.render(text, Path("docs/cuda.md"), links.Links(PROJECT), terms)
        return page, terms

    def test_the_first_use_of_a_word_shows_its_entry(self):
        page, terms = self.render("# Warps\n\nTwo warps, then a warp; `warp` is code.\n")
        self.assertEqual(page.html.count('class="term"'), 1)
        self.assertIn('aria-describedby="about-word-warp">warps</a>', page.html)
        self.assertIn('<div id="about-word-warp">32 threads of a block.</div>', terms.definitions())

    def test_the_title_is_the_templates_and_repeated_headings_are_numbered(self):
        page, _ = self.render("# A title\n\n## Part `x`\n\n## Part `x`\n\ntext\n")
        self.assertEqual(page.title, "A title")
        self.assertNotIn("<h1", page.html)
        self.assertEqual([anchor for _, anchor, _ in page.headings], ["part-x", "part-x-1"])
        self.assertEqual(page.sections[-1], ("part-x-1", "Part x", "Part x text"))

    def test_tables_scroll_by_themselves(self):
        page, _ = self.render("# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
        self.assertIn('<div class="scroll" tabindex="0" role="group"', page.html)
        page, _ = self.render("# T\n\n| | b |\n|---|---|\n| 1 | 2 |\n")
        self.assertNotIn("<th></th>", page.html)


if __name__ == "__main__":
    unittest.main()
