"""environment.py SOURCE BUILD WORK CMAKE: makes a virtual environment that contains the package.

Creates WORK/venv from PyPI, installs BUILD into the package's folder there, and builds the extension
against that. Later runs only update changed parts. Exits with 77 and a reason if there is no network or no
Python that nanobind supports. Creates WORK/ready on success.
"""

import pathlib
import subprocess
import sys

REQUIREMENTS = ["nanobind", "numpy", "ml_dtypes", "pytest"]
OPTIONAL = ["jax", "mypy"]  # without one, its tests are skipped


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_venv(venv):
    marker = venv / "packages"
    wanted = " ".join(REQUIREMENTS + OPTIONAL)
    if marker.exists() and marker.read_text() == wanted:
        return
    if subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True).returncode != 0:
        skip(f"{sys.executable} makes no virtual environment; Debian's is in package python3-venv")
    install = [venv / "bin/python", "-m", "pip", "install", "-q", "--retries", "1", "--disable-pip-version-check"]
    done = subprocess.run([*install, *REQUIREMENTS], capture_output=True, text=True)
    if done.returncode != 0:
        skip("pip cannot install " + " ".join(REQUIREMENTS) + ": " + done.stderr.strip().splitlines()[-1])
    for package in OPTIONAL:
        subprocess.run([*install, package], capture_output=True)
    marker.write_text(wanted)


def main(source, build, work, cmake):
    if sys.version_info < (3, 10):
        skip(f"Python is {sys.version.split()[0]}; nanobind needs 3.10")
    work = pathlib.Path(work)
    work.mkdir(exist_ok=True)
    ready = work / "ready"
    ready.unlink(missing_ok=True)
    make_venv(work / "venv")
    python = work / "venv/bin/python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    prefix = pathlib.Path(site) / "rung"
    run(cmake, "--install", build, "--prefix", prefix)
    run(cmake, "-G", "Ninja", "-S", pathlib.Path(source) / "library/python", "-B", work / "build",
        f"-DPython_EXECUTABLE={python}", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        "-DRUNG_WERROR=ON")
    run(cmake, "--build", work / "build")
    run(cmake, "--install", work / "build")
    ready.write_text("")


if __name__ == "__main__":
    main(*sys.argv[1:])
