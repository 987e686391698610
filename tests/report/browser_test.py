#!/usr/bin/env python3
"""Pages of `rung report` and `rung explain` in a real browser, at the widths of a phone and of a
desk: no error on the console, nothing wider than the page, and the figures that the browser shows
are those of the JSON.
Skipped (exit 77) where no Chromium is.

browser_test.py RUNG PROJECT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import check_page

# What a test adds to the page, and the page does not have: it measures itself.
PROBE = """<script>
document.addEventListener("DOMContentLoaded", () => {
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const hidden = [...document.querySelectorAll("svg.picture")].filter(
      (svg) => svg.getBoundingClientRect().width < 200 || svg.getBoundingClientRect().height < 20);
  console.error(`probe: wide=${wide} hidden=${hidden.length}`);
});
</script>"""


def browse(chromium, folder, page, *flags):
    """What the browser makes of the page, and what its console says."""
    file = pathlib.Path(folder) / "page.html"
    file.write_text(page)
    done = subprocess.run(
        [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={folder}/profile", *flags, "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)


def main():
    rung, project = map(pathlib.Path, sys.argv[1:])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("skipped: no chromium here")
        return 77
    files = sorted(project.glob("results/nvidia-h200/gemm-f32*.json"))
    page = subprocess.run(
        [rung, "report", *files, "-o", "-"], capture_output=True, text=True, check=True
    ).stdout
    why = subprocess.run(
        [rung, "explain", "gemm/cuda/05", "--no-hardware", "--html", "-"],
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
