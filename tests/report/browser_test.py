#!/usr/bin/env python3
"""Tests pages of `rung report`, `rung explain` and `rung learn` in a real browser, at the widths of a phone and of a
desktop: no errors on the console, no content wider than the page, and the figures of the JSON.
Skipped (exit status 77) if Chromium is not installed.

browser_test.py RUNG PROJECT
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import check_page

# A script that the test adds to the page to measure its layout.
PROBE = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const hidden = [...document.querySelectorAll("svg.picture")].filter(
      (svg) => svg.getBoundingClientRect().width < 200 || svg.getBoundingClientRect().height < 20);
  console.error(`probe: wide=${wide} hidden=${hidden.length}`);
});
</script>"""


# Steps by keyboard, by button and by slider, and prints what the page shows.
STEPS = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const stepper = document.querySelector(".stepper"), find = (name) => stepper.querySelector(name);
  const shown = [];
  const tell = (does) => {
    does();
    shown.push([find(".said").textContent, stepper.querySelectorAll(".lanes .on").length,
               stepper.querySelectorAll(".memory .used").length,
               stepper.querySelectorAll(".cells .new, .cells .old").length]);
  };
  const key = (name) => () => find(".code").dispatchEvent(
      new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  tell(() => {});
  for (const name of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"]) tell(key(name));
  tell(() => find("button[data-go=next]").click());
  find("input[type=checkbox]").checked = true;
  tell(key("ArrowRight"));
  tell(() => {
    find("input[type=range]").value = 4;
    find("input[type=range]").dispatchEvent(new Event("input"));
  });
  const live = find(".said").getAttribute("aria-live");
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  console.error("steps: " + JSON.stringify({shown, live, wide, width: innerWidth}));
});
</script>"""


def check_stepping(chromium, folder, page):
    """Checks that the keys change the step, and that text, lanes and words match the data."""
    trace = check_page.steps_of(check_page.parse(page))[0]["trace"]
    steps = trace["warps"][0]["steps"]
    (pathlib.Path(folder) / "inner.html").write_text(page.replace("</head>", STEPS + "</head>"))
    for width in (390, 1400):  # a frame, since windows have a minimum width above that of a phone
        frame = f'<!doctype html><iframe src="inner.html" width="{width}" height="900"></iframe>'
        _, console = browse(chromium, folder, frame, "--window-size=1500,1000")
        assert len(console) == 1 and "steps: " in console[0], console
        text = console[0][console[0].index("steps: ") + 7:console[0].rindex("}") + 1]
        said = json.loads(text)
        assert said["live"] == "polite" and said["width"] == width and not said["wide"], said
        count = len(steps)
        access = next(i for i in range(2, count) if len(steps[i]) == 6)
        for shown, at in zip(said["shown"], [0, 1, 2, 1, count - 1, 0, 1, access, 4], strict=True):
            step = steps[at]
            assert shown[0].startswith(f"Step {at + 1} of {count}, "), (shown, at)
            assert trace["ops"][step[2][0]] in shown[0], (shown, at)
            lanes = step[5][3] if len(step) == 6 else step[1]
            assert shown[1] == lanes.bit_count(), (shown, at)
            if len(step) == 6:
                unit = "wavefront" if step[5][0] else "sector"
                assert f"{step[5][4]} {unit}" in shown[0], (shown, at)
                assert shown[2] > 0, (shown, at)
            cells = set()
            for earlier in steps[: at + 1]:
                for first, number in zip(earlier[3][::2], earlier[3][1::2]):
                    cells |= set(range(first, first + number))
            assert shown[3] == len(cells), (shown, at)


# Filters and sorts the table of the index, and prints what it shows.
TABLES = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.sortable"), rows = [...table.tBodies[0].rows];
  const shown = () => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[0].textContent);
  const field = document.querySelector(".filter input");
  const filter = (text) => { field.value = text; field.dispatchEvent(new Event("input")); return shown(); };
  const found = filter("gemm/cuda/0 tile"), all = filter("").length;
  const heading = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === "time");
  const sorted = () => {
    heading.querySelector("button").click();
    return [...table.tBodies[0].rows].map((row) => Number(row.cells[3].querySelector("data").value));
  };
  const falls = sorted(), falling = heading.getAttribute("aria-sort"), rises = sorted();
  const title = table.querySelector("data").title;
  const paper = getComputedStyle(document.body).backgroundColor;
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  console.error("tables: " + JSON.stringify({found, all, falls, falling, rises, title, paper, wide, width: innerWidth}));
});
</script>"""


def check_site(chromium, folder, site):
    """Checks that the index filters and sorts, and that all pages fit a phone and a desktop, light and dark."""
    shutil.copytree(site, pathlib.Path(folder) / "site")
    index = (site / "index.html").read_text()
    papers = set()
    for name in ("index.html", "gemm-cuda-05_vectors.html", "study-gemm-f32.html"):
        page = (site / name).read_text()
        probe = TABLES if name == "index.html" else PROBE
        (pathlib.Path(folder) / "inner.html").write_text(page.replace("</head>", probe + "</head>"))
        for width in (390, 1400):
            for scheme in (0, 1):  # dark, light
                frame = f'<!doctype html><iframe src="inner.html" width="{width}" height="900"></iframe>'
                _, console = browse(chromium, folder, frame, "--window-size=1500,1000",
                                    f"--blink-settings=preferredColorScheme={scheme}")
                assert len(console) == 1, (name, width, console)
                if name != "index.html":
                    assert "wide=false hidden=0" in console[0], (name, width, console)
                    continue
                text = console[0][console[0].index("tables: ") + 8:console[0].rindex("}") + 1]
                said = json.loads(text)
                assert said["width"] == width and not said["wide"], said
                assert said["found"] and all("gemm/cuda/0" in rung for rung in said["found"]), said
                assert said["all"] == index.count('<th scope="row"><a href='), said
                assert said["falling"] == "descending" and said["title"], said
                assert said["falls"] == sorted(said["falls"], reverse=True), said
                assert said["rises"] == sorted(said["falls"]), said
                papers.add(said["paper"])
    assert len(papers) == 2, papers


# Opens the hints of the first finding one by one, and prints which are visible before and after each.
HINTS = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const details = [...document.querySelectorAll("#hints h3 + details")];
  const shown = (of) => of.querySelectorAll("p").length &&
      [...of.querySelectorAll("p")].filter((p) => p.checkVisibility()).length;
  const first = details.map(shown);
  const several = details.find((of) => of.querySelector("details"));
  const counts = [];
  for (let at = several; at; at = at.querySelector("details")) {
    at.open = true;
    counts.push(shown(several));
  }
  const code = document.querySelector("#steps").textContent;
  const solution = document.querySelector("#solution details");
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  console.error("hints: " + JSON.stringify({first, counts, hidden: !solution.open, wide, width: innerWidth,
    paper: getComputedStyle(document.body).backgroundColor, covered: code.includes("…")}));
});
</script>"""


def check_exercise(chromium, folder, page):
    """Checks that hints and the solution are hidden until they are opened, and that the page fits, light and dark."""
    (pathlib.Path(folder) / "inner.html").write_text(page.replace("</head>", HINTS + "</head>"))
    papers = set()
    for width, scheme in ((390, 0), (1400, 1)):
        frame = f'<!doctype html><iframe src="inner.html" width="{width}" height="900"></iframe>'
        _, console = browse(chromium, folder, frame, "--window-size=1500,1000",
                            f"--blink-settings=preferredColorScheme={scheme}")
        assert len(console) == 1 and "hints: " in console[0], console
        said = json.loads(console[0][console[0].index("hints: ") + 7:console[0].rindex("}") + 1])
        assert said["width"] == width and not said["wide"], said
        assert len(said["first"]) > 3 and not any(said["first"]), said
        assert said["counts"] == list(range(1, len(said["counts"]) + 1)) and len(said["counts"]) > 1, said
        assert said["hidden"] and said["covered"], said
        papers.add(said["paper"])
    assert len(papers) == 2, papers


def browse(chromium, folder, page, *flags):
    """The page as the browser shows it, and the lines of its console."""
    file = pathlib.Path(folder) / "page.html"
    file.write_text(page)
    done = subprocess.run(
        [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={folder}/profile", *flags, "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=600, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)


def main():
    rung, project = map(pathlib.Path, sys.argv[1:])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("skipped: no chromium here")
        return 77
    files = sorted(project.glob("results/nvidia-h200/gemm-f32*.jsonl"))
    page = subprocess.run(
        [rung, "report", *files, "-o", "-"], capture_output=True, text=True, check=True
    ).stdout
    why = subprocess.run(
        [rung, "explain", "gemm/cuda/05", "--no-hardware", "--html", "-"],
        capture_output=True, text=True, check=True,
    ).stdout
    both = subprocess.run(
        [rung, "diff", "gemm/cuda/02", "gemm/cuda/05", "--html", "-"],
        capture_output=True, text=True, check=True,
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        shown, console = browse(chromium, folder, page)
        assert console == [], console
        tree = shown[shown.index("<html"):]
        assert check_page.check_figures(check_page.parse(tree), check_page.read_results(files)) > 20
        for size in ("500,900", "1280,900"):
            _, console = browse(chromium, folder, page.replace("</head>", PROBE + "</head>"),
                                f"--window-size={size}")
            assert len(console) == 1 and "wide=false hidden=0" in console[0], (size, console)
            _, console = browse(chromium, folder, why.replace("</head>", PROBE + "</head>"),
                                f"--window-size={size}")
            assert len(console) == 1 and "wide=false hidden=0" in console[0], (size, console)
        site = pathlib.Path(folder) / "report"
        subprocess.run([rung, "report", *files, "-o", f"{site}/", "--no-trace"], check=True)
        check_site(chromium, folder, site)
        check_stepping(chromium, folder, why)
        check_stepping(chromium, folder, both)
        exercise = subprocess.run(
            [rung, "learn", "07", "--html", "-"], capture_output=True, text=True, check=True
        ).stdout
        check_stepping(chromium, folder, exercise)
        check_exercise(chromium, folder, exercise)
    return 0


if __name__ == "__main__":
    sys.exit(main())
