"""The command `rung`, which the package carries as a program."""

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "rung")


def main():
    """Becomes the program, with its exit code and its signals."""
    try:
        os.execv(PROGRAM, ["rung", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rung: {PROGRAM}: {error.strerror}")


if __name__ == "__main__":
    main()
