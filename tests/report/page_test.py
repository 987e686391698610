#!/usr/bin/env python3
"""Tests of pages and pictures of `rung report`, made from the results of this project.

page_test.py RUNG PROJECT
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import check_page

RUNG = pathlib.Path(sys.argv.pop(1))
PROJECT = pathlib.Path(sys.argv.pop(1))
H200 = sorted(PROJECT.glob("results/nvidia-h200/gemm-f32*.jsonl"))
CPU = sorted(PROJECT.glob("results/cpu-*/*.jsonl"))


def report(*arguments):
    return subprocess.run([RUNG, "report", *arguments], capture_output=True, text=True, check=False)


def page_of(files, *arguments):
    done = report(*files, "-o", "-", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def site_of(files, *arguments):
    """The pages of `rung report -o FOLDER/`, by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = report(*files, "-o", f"{folder}/", *arguments)
        assert done.returncode == 0, done.stderr
        return {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}


def explained(*arguments):
    done = subprocess.run(
        [RUNG, "explain", *arguments, "--no-hardware", "--html", "-"],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Explanation(unittest.TestCase):
    def test_of_a_rung(self):
        page = explained("gemm/cuda/05")
        root = check_page.parse(page)
        check_page.check_alone(page, root, steps=True)
        check_page.check_access(root)
        self.assertLess(len(page), 1_000_000)
        captions = [table.first("caption").text() for table in root.all("table")]
        for caption in ("Elements moved per element of C", "Blocks per SM"):
            self.assertIn(caption, captions)
        figures = [figure.attributes["id"] for figure in root.all("figure")]
        self.assertIn("roofline", figures)
        self.assertIn("rung-gemm-cuda-05_vectors-tile", figures)
        self.assertIn("rung-gemm-cuda-05_vectors-access0", figures)

    def test_steps_of_the_naive_rung(self):
        """One thread per element: a warp loads 32 rows of A in 32 sectors, and one word of B for all lanes."""
        data = check_page.steps_of(check_page.parse(explained("gemm/cuda/00")))[0]
        trace = data["trace"]
        self.assertEqual(data["file"], "00_naive.cu")
        self.assertEqual(data["source"], (PROJECT / "ladder/gemm/cuda/00_naive.cu").read_text().splitlines())
        self.assertEqual(trace["shared"], 0)
        accesses = [step[5] for step in trace["warps"][0]["steps"] if len(step) == 6]
        loads = {access[4] for access in accesses if access[1] == 1}
        self.assertEqual(loads, {1, 32})
        self.assertEqual([access[4] for access in accesses if access[1] == 0], [32])
        places = {trace["places"][step[0]].split(":")[0] for step in trace["warps"][0]["steps"]}
        self.assertIn("00_naive.cu", places)

    def test_two_rungs_side_by_side(self):
        done = subprocess.run(
            [RUNG, "diff", "gemm/cuda/02", "gemm/cuda/24", "--html", "-"],
            capture_output=True, text=True, check=True,
        )
        root = check_page.parse(done.stdout)
        check_page.check_alone(done.stdout, root, steps=True)
        check_page.check_access(root)
        tile, tma = check_page.steps_of(root)
        # The tiles of A and B are complete before the first load from them.
        trace = tile["trace"]
        written = set()
        for step in trace["warps"][0]["steps"]:
            for first, count in zip(step[3][::2], step[3][1::2]):
                written |= set(range(first, first + count))
            if len(step) == 6 and step[5][0] == 1 and step[5][1] == 1:
                break
        self.assertEqual(len(written) * trace["cell"], trace["shared"])
        # Bulk copies fill the tiles without stores by any lane.
        self.assertTrue(any(step[3] for warp in tma["trace"]["warps"] for step in warp["steps"]))

    def test_the_source_of_a_program_has_its_counters(self):
        """As a rung's source has them; the line that multiplies is hot."""
        program = PROJECT / "tests/emu/programs/tiled_matmul.cu"
        page = subprocess.run(
            [RUNG, "explain", f"{program}:matmul", "--html", "-", "--", "64", "64", "64"],
            capture_output=True, text=True, check=True,
        ).stdout
        section = page[page.index('<section id="source">'):]
        rows = re.findall(r'<tr( class="hot")?><td>(\d+)</td>(.*?)<td><code>(.*?)</code></td></tr>', section)
        self.assertEqual([html.unescape(row[3]) for row in rows], program.read_text().splitlines())
        values = {int(row[1]): [int(value) for value in re.findall('value="(\\d+)"', row[2])] for row in rows}
        self.assertEqual(values[16][1:], [2048, 512])  # sectors, wavefronts
        self.assertEqual(values[19][1:], [16384])
        self.assertEqual(rows[18][0], ' class="hot"')

    def test_steps_of_a_program(self):
        program = PROJECT / "tests/emu/programs/tiled_matmul.cu"
        done = subprocess.run(
            [RUNG, "explain", f"{program}:matmul", "--html", "-", "--", "64", "64", "64"],
            capture_output=True, text=True, check=True,
        )
        data = check_page.steps_of(check_page.parse(done.stdout))[0]
        self.assertEqual(data["source"], program.read_text().splitlines())
        self.assertTrue(any(len(step) == 6 for step in data["trace"]["warps"][0]["steps"]))

    def test_a_diff_page_is_of_rungs_for_gpus(self):
        for wrong in ("gemm/cpu/00", str(PROJECT / "tests/analysis/diseases.cu")):
            done = subprocess.run(
                [RUNG, "diff", "gemm/cuda/02", wrong, "--html", "-"],
                capture_output=True, text=True, check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("is not a rung for GPUs", done.stderr)

    def test_figures_are_those_of_the_json(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "explained.json"
            root = check_page.parse(explained("gemm/cuda/24", "--json", str(file)))
            told = json.loads(file.read_text())
        figure = next(f for f in root.all("figure") if f.attributes["id"] == "roofline")
        rows = {row[0][0]: row for row in check_page.rows_of(figure.first("table"))}
        for level in told["roofline"]["levels"]:
            if level["name"] in rows and level["name"] != "multiply-adds":
                check_page.same(rows[level["name"]][1][1], level["flops_per_byte"], level["name"])
                check_page.same(rows[level["name"]][4][1], level["seconds"], level["name"])
        self.assertIn("DRAM", rows)
        section = next(s for s in root.all("section") if s.attributes["id"] == "next")
        causes = [item.first("strong").text() for item in section.all("li")]
        self.assertEqual(causes, [advice["cause"] for advice in told["advice"]])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.h200 = page_of(H200)
        cls.root = check_page.parse(cls.h200)

    def test_of_a_gpu_with_traces(self):
        check_page.check(self.h200, H200)
        self.assertLess(len(self.h200), 1_500_000)

    def test_of_cpus(self):
        check_page.check(page_of(CPU), CPU)

    def test_a_wrong_figure_is_found(self):
        tile = "gemm/cuda/02_shared_tile"
        rate = next(e["gflops"] for e in check_page.read_results(H200) if e["rung"] == tile)
        value = re.search(rf'<data value="([0-9.]+)">{rate:.0f}<', self.h200)[1]
        wrong = self.h200.replace(f'"{value}"', f'"{1.1 * float(value)}"')
        with self.assertRaisesRegex(AssertionError, "02_shared_tile at 4096³, rate"):
            check_page.check(wrong, H200)

    def test_broken_html_is_found(self):
        with self.assertRaises(AssertionError):
            check_page.check(self.h200.replace("</figure>", "", 1), H200)

    def test_each_rung_has_a_section_with_its_source(self):
        for entry in check_page.read_results(H200):
            if entry["rung"] == "library":
                continue
            anchor = "rung-" + entry["rung"].replace("/", "-")
            section = next(s for s in self.root.all("section") if s.attributes["id"] == anchor)
            table = next(t for t in section.all("table") if t.attributes.get("class") == "source")
            places = [PROJECT / folder / (entry["rung"] + ".cu") for folder in ("ladder", "kernels")]
            source = next(filter(pathlib.Path.exists, places)).read_text()
            shown = [row.children[-1].text() for row in table.first("tbody").all("tr")]
            self.assertEqual("\n".join(shown) + "\n", source)

    def test_lines_add_up_to_the_launch(self):
        section = next(
            s for s in self.root.all("section") if s.attributes["id"] == "rung-gemm-cuda-00_naive"
        )
        table = next(t for t in section.all("table") if t.attributes.get("class") == "source")
        lines = sum(
            float(row.children[2].first("data").attributes["value"])
            for row in table.first("tbody").all("tr")
            if row.children[2].first("data")
        )
        counters = check_page.rows_of(section.first("table"))
        self.assertEqual(lines, counters[0][2][1] + counters[1][2][1])
        # 32 sectors for the rows of A and one for B: an average of 16.5.
        self.assertEqual(counters[0][3][1], 16.5)

    def test_maps_of_the_naive_rung(self):
        figures = {f.attributes["id"]: f for f in self.root.all("figure")}
        tile = check_page.rows_of(figures["rung-gemm-cuda-07_warp_tile-tile"].first("table"))
        self.assertEqual([cell[1] for cell in tile[0][1:]], [128, 128, 128 * 128])
        self.assertEqual([cell[1] for cell in tile[1][1:]], [64, 32, 64 * 32])
        self.assertEqual(tile[2][3][1], 64)
        access = figures["rung-gemm-cuda-00_naive-access0"].first("figcaption").text()
        self.assertIn("32 sectors of 32 bytes", access)

    def test_without_traces(self):
        page = page_of(H200, "--no-trace")
        check_page.check(page, H200)
        self.assertNotIn("On the virtual GPU, f32", page)

    def test_pictures_are_well_formed(self):
        with tempfile.TemporaryDirectory() as folder:
            pictures = pathlib.Path(folder) / "new"
            done = report(*H200, "--no-trace", "--pictures", str(pictures))
            self.assertEqual(done.returncode, 0, done.stderr)
            names = sorted(path.name for path in pictures.iterdir())
            self.assertEqual(
                names,
                ["gemm-f32-ladder.svg", "gemm-f32-roofline.svg", "gemm-f32-sizes.svg", "gemm-shapes.svg"],
            )
            for path in pictures.iterdir():
                root = xml.etree.ElementTree.fromstring(path.read_text())
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")


class Site(unittest.TestCase):
    """`rung report -o FOLDER/`: an index, and short, self-contained, linked pages."""

    @classmethod
    def setUpClass(cls):
        cls.pages = site_of(H200, "--no-trace")

    def test_pages_are_linked(self):
        for name, text in self.pages.items():
            root = check_page.parse(text)
            check_page.check_alone(text, root, steps=True)
            check_page.check_access(root, self.pages)
        reached, new = set(), {"index.html"}
        while new:
            reached |= new
            links = (a.attributes["href"] for name in new
                     for a in check_page.parse(self.pages[name]).all("a"))
            new = {to for to in links if to in self.pages} - reached
        self.assertEqual(reached, set(self.pages))

    def test_figures_are_those_of_the_json(self):
        count = sum(
            check_page.check_figures(check_page.parse(text), check_page.read_results(H200))
            for name, text in self.pages.items() if name.startswith("study-")
        )
        self.assertGreater(count, 20)

    def test_the_index_leads_to_each_rung(self):
        index = check_page.parse(self.pages["index.html"])
        table = next(t for t in index.all("table") if t.attributes.get("class") == "sortable")
        rows = check_page.rows_of(table)
        rungs = {e["rung"] for e in check_page.read_results(H200)} - {"library"}
        self.assertEqual({row[0][0] for row in rows}, rungs)
        self.assertLess(len(self.pages["index.html"]), 200_000)


class Published(unittest.TestCase):
    """The report of results/nvidia-h200 shows what these files have."""

    def test_figures(self):
        files = sorted(PROJECT.glob("results/nvidia-h200/*.jsonl"))
        entries = check_page.read_results(files)
        pages = site_of(files, "--no-trace")
        count = 0
        for name, text in sorted(pages.items()):
            if not name.startswith("study-"):
                continue
            root = check_page.parse(text)
            check_page.check_access(root, pages)
            count += check_page.check_figures(root, entries)
        self.assertGreater(count, 100)

    def test_bulk_copies_are_not_taken_for_little_traffic(self):
        pages = site_of([PROJECT / "results/nvidia-h200/gemm-bf16-ladder.jsonl"])
        section = check_page.parse(pages["gemm-cuda-24_tma.html"]).first("section")
        rows = {row[0][0]: row for row in check_page.rows_of(section.first("table"))}
        self.assertGreater(rows["bulk loads"][2][1], 10 * rows["global loads"][2][1])


if __name__ == "__main__":
    unittest.main()
