#!/usr/bin/env python3
"""Checks the output on a terminal: the progress line is erased at the end, and NO_COLOR
disables colour. Without a terminal, the program prints neither.

terminal_test.py RUNG
"""

import os
import pty
import re
import subprocess
import sys
import unittest

RUNG = sys.argv.pop(1)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CLEAR = "\r\x1b[K"
VERIFY = ["verify", "dot/cpu/00", "dot/cpu/01", "--dtype", "f32", "--threads", "1"]


def on_terminal(arguments, **environment):
    """All that the program writes to a terminal, and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", **environment})
        os.execv(RUNG, [RUNG, *arguments])
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not chunk:
            break
        text += chunk
    os.close(terminal)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Progress(unittest.TestCase):
    def test_says_what_runs_and_how_much_is_done(self):
        text, code = on_terminal(VERIFY)
        self.assertEqual(code, 0)
        shown = [part.split("\r")[0] for part in text.split(CLEAR)[1:]]
        self.assertIn("verifying dot/cpu/00_one_accumulator f32  0 % done", shown)
        self.assertIn("verifying dot/cpu/01_accumulators f32  50 % done", " ".join(shown))
        for line in shown:
            self.assertLessEqual(len(line.split("\n")[0]), 80, line)

    def test_leaves_no_trace(self):
        text, _ = on_terminal(VERIFY)
        left = [line.split(CLEAR)[-1] for line in text.replace("\r\n", "\n").split("\n")]
        self.assertFalse([line for line in left if "% done" in line], left)
        self.assertEqual(sum("right in" in line for line in left), 2, left)

    def test_is_silent_without_a_terminal(self):
        done = subprocess.run([RUNG, *VERIFY], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)

    def test_is_silent_on_a_dumb_terminal(self):
        text, _ = on_terminal(VERIFY, TERM="dumb")
        self.assertNotIn("\x1b", text)


class Colour(unittest.TestCase):
    COMMANDS = [["list"], ["--help"], VERIFY, ["trace", "gemm/cuda/02", "--n", "64"]]

    def test_none_where_no_color_is_set(self):
        for arguments in self.COMMANDS:
            text, code = on_terminal(arguments, NO_COLOR="1")
            self.assertEqual(code, 0, arguments)
            self.assertIsNone(COLOUR.search(text), arguments)

    def test_none_in_a_pipe(self):
        for arguments in self.COMMANDS:
            done = subprocess.run([RUNG, *arguments], capture_output=True, text=True, check=True)
            self.assertNotIn("\x1b", done.stdout + done.stderr, arguments)


if __name__ == "__main__":
    unittest.main()
