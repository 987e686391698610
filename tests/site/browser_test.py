#!/usr/bin/env python3
"""Opens pages of a built site in Chromium at three widths, light and dark: no error on the console, nothing that does not
load, no page wider than its window, contrast of at least 4.5, text of at least 9 pixels, and what scripts show. If a
Python package with axe-core is installed (axe-playwright-python or axe-core-python), its checks run, too.
Skipped (exit status 77) if Chromium or the site is missing.

browser_test.py SITE
"""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAGES = [
    "index.html",
    "ladder/index.html",
    "ladder/gemm/cuda/index.html",
    "ladder/gemm/cuda/05_vectors.html",
    "course/index.html",
    "course/03_coalesced.html",
    "benchmarks/index.html",
    "docs/index.html",
    "layouts/index.html",
    "docs/glossary.html",
    "docs/results.html",
]
PROBE = pathlib.Path(__file__).with_name("probe.js")
AXE = ("axe_playwright_python", "axe_core_python")


def axe_script():
    """The file of axe-core, of whichever package is installed."""
    for name in AXE:
        found = importlib.util.find_spec(name)
        for folder in found.submodule_search_locations if found else []:
            for file in pathlib.Path(folder).rglob("axe.min.js"):
                return file
    return None


def probed(site, page, axe):
    """A copy of a page beside it that reports about itself."""
    text = (site / page).read_text()
    scripts = [*([axe.read_text()] if axe else []), PROBE.read_text()]
    added = "".join("<script>" + script.replace("</script", "<\\/script") + "</script>" for script in scripts)
    copy = (site / page).with_name(f"probe-{pathlib.PurePath(page).name}")
    copy.write_text(text.replace("</body>", added + "</body>"))
    return copy


def browse(chromium, folder, copies, width, is_dark):
    """The lines of the console, of all pages side by side."""
    frames = "".join(f'<iframe src="{copy.as_uri()}" width="{width}" height="900"></iframe>' for copy in copies)
    file = pathlib.Path(folder) / "frames.html"
    file.write_text(f"<!doctype html>{frames}")
    done = subprocess.run(
        [
            chromium,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={folder}/profile",
            f"--window-size={width + 100},1000",
            f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
            "--virtual-time-budget=60000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return re.findall(r'CONSOLE[^\]]*\] "?(.*)', done.stderr)


def reports(lines):
    """The pages' reports by page, and every other line of the console."""
    found, others = {}, []
    for line in lines:
        match = re.match(r"probe: (\{.*\})", line)
        if match:
            report = json.loads(match[1])
            found[report["page"]] = report
        else:
            others.append(line)
    return found, others


def check_scripts(page, report):
    """Checks the results of the page's scripts."""
    does = report["does"]
    if page == "benchmarks/index.html":
        assert does["points"] > 100 and does["boxes"] > 2 and does["rows"] == 50, does
        assert does["tip"] and does["filtered"] < does["all"] and does["curves"] == does["boxes"], does
        assert does["sorted"] == sorted(does["sorted"], reverse=True), does
    if page == "ladder/gemm/cuda/index.html":
        assert does["first"] != does["last"] and does["ahead"][0] > 0 and does["ahead"][1] == 0, does
    if page in ("ladder/gemm/cuda/05_vectors.html", "course/03_coalesced.html"):
        assert "memory by" in does["said"] and does["used"] > 0, does
    if page == "course/03_coalesced.html":
        assert "32 threads" in does["about"], does
    if page == "index.html":
        assert does["panels"] == [[True, False], [False, True]], does
        assert does["found"] > 0 and does["url"].endswith(".html#word-bank-conflict"), does


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or not (site / "index.html").is_file():
        print("skipped: " + ("no chromium here" if chromium is None else "the site is not built, see site.build"))
        return 77
    axe = axe_script()
    print(f"accessibility: own checks{' and axe-core' if axe else '; no package with axe-core here'}")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "a prefix/site"
        shutil.copytree(site, copy)
        for width, is_dark in ((390, True), (768, False), (1300, False), (1300, True)):
            has_axe = axe and width == 1300 and not is_dark
            copies = [probed(copy, page, axe if has_axe else None) for page in PAGES]
            found, others = reports(browse(chromium, folder, copies, width, is_dark))
            for page, probe in zip(PAGES, copies):
                if page not in found:  # a busy machine may end the frames' time too early
                    found |= reports(browse(chromium, folder, [probe], width, is_dark))[0]
            problems += [f"{width}: console: {line}" for line in others]
            for page in PAGES:
                report = found.get(page)
                if report is None:
                    problems.append(f"{page} at {width}: no report")
                    continue
                assert report["width"] == width and report["dark"] == is_dark, report
                problems += [f"{page} at {width}{', dark' if is_dark else ''}: {what}" for what in report["problems"]]
                check_scripts(page, report)
    print("\n".join(problems[:60]) or f"{len(PAGES)} pages at 390, 768 and 1300 pixels")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
