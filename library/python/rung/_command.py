"""The commands `rung` and `rung-nvcc`: run the program in the package's directory."""

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "rung")


def main(*first):
    """Replaces this process by the program, so its exit code and signals need no forwarding."""
    if not first and sys.argv[1:2] == ["referee"]:  # a command of Python
        from .referee.__main__ import main as referee
        sys.exit(referee(sys.argv[2:]))
    os.environ.setdefault("RUNG_PYTHON_PROGRAM", sys.executable)  # for rung python
    try:
        os.execv(PROGRAM, ["rung", *first, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rung: {PROGRAM}: {error.strerror}")


def nvcc():
    main("--nvcc")


if __name__ == "__main__":
    main()
