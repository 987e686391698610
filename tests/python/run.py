"""run.py WORK FILE [MODULE]: runs the tests of FILE in the environment made by environment.py.

Exits with 77 and a reason if the environment does not exist or does not contain MODULE.
"""

import os
import pathlib
import subprocess
import sys


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)


def main(work, file, module=None):
    work = pathlib.Path(work)
    python = work / "venv/bin/python"
    if not (work / "ready").exists():
        skip("python.environment made no environment; its output says why")
    if module is not None and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode != 0:
        skip(f"{module} is not installed in {work / 'venv'}")
    # An empty working folder keeps the source tree off the module path.
    elsewhere = work / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", file]
    sys.exit(subprocess.run(command, cwd=elsewhere, env=environment).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
