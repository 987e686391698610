"""manual_test.py RUNG FOLDER: checks the man pages and completions that `rung --write-manual` writes to FOLDER: they
must contain every command and option of its help, have no roff errors, and the completions must work."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

RUNG, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def read(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def options_of(help_text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", help_text.partition("\nOptions:")[2].partition("\n\n")[0].partition("\nCommands")[0]))


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        read(RUNG, "--write-manual", FOLDER)
        text = read(RUNG, "--help")
        part = re.split(r"\n(?:Subc|C)ommands:\n", text, flags=re.IGNORECASE)[1].partition("\n\n")[0]
        cls.commands = re.findall(r"^  (\w+) ", part, re.MULTILINE)

    def test_there_are_commands(self):
        self.assertGreater(len(self.commands), 8)

    def test_each_command_has_a_page_with_its_options(self):
        for command in self.commands:
            page = (FOLDER / f"man1/rung-{command}.1").read_text().replace("\\-", "-")
            for option in options_of(read(RUNG, command, "--help")):
                self.assertRegex(page, rf"\\fB.*{option}\b", (command, option))
            self.assertIn(f"rung-{command}", (FOLDER / "man1/rung.1").read_text().replace("\\-", "-"))

    def test_the_flag_itself_is_hidden(self):
        self.assertNotIn("write-manual", (FOLDER / "man1/rung.1").read_text())

    def test_roff(self):
        for page in (FOLDER / "man1").iterdir():
            for line in page.read_text().splitlines():
                self.assertRegex(line, r"^(\.(TH|SH|TP|nf|fi)\b|[^.'])|^$", page)
        if shutil.which("groff"):
            for page in (FOLDER / "man1").iterdir():
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", page], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def completed(self, *words):
        script = f"source '{FOLDER}/rung.bash'; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _rung; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return read("bash", "-c", script).split()

    def test_bash(self):
        self.assertEqual(self.completed("rung", "ben"), ["bench"])
        self.assertEqual(set(self.completed("rung", "''")) & set(self.commands), set(self.commands))
        self.assertEqual(self.completed("rung", "bench", "--siz"), ["--sizes"])

    def test_bash_completes_values(self):
        self.assertIn("gemm/cuda/07_warp_tile", self.completed("rung", "bench", "gemm/cuda/0"))
        self.assertIn("gemm/cpu", self.completed("rung", "bench", "gemm/"))
        self.assertIn("gemm/cuda/02_shared_tile", self.completed("rung", "explain", "gemm/cuda/02"))
        self.assertEqual(self.completed("rung", "learn", "03"), ["03"])
        self.assertEqual(set(self.completed("rung", "trace", "--gpu", "h")), {"h200", "h100"})
        self.assertEqual(self.completed("rung", "verify", "--dtype", "e5"), ["e5m2"])
        self.assertEqual(self.completed("rung", "bench", "--json", "gem"), [])  # a file

    def test_bash_completes_every_gpu_model(self):
        done = subprocess.run([RUNG, "trace", "gemm/cuda/00", "--gpu", "none"], capture_output=True, text=True)
        known = set(re.search(r"not one of (.*), custom", done.stderr)[1].split(", "))
        self.assertEqual(set(self.completed("rung", "trace", "--gpu", "''")), known)

    def test_zsh_and_fish_complete_values(self):
        for file in ("_rung", "rung.fish"):
            text = (FOLDER / file).read_text()
            for word in ("gemm/cuda/07_warp_tile", "h200", "bf16-bf16", " 24"):
                self.assertIn(word, text, file)

    def test_zsh_and_fish(self):
        for shell, file in (("zsh", "_rung"), ("fish", "rung.fish")):
            text = (FOLDER / file).read_text()
            for command in self.commands:
                self.assertIn(command, text)
            self.assertIn("sizes", text)
            if shutil.which(shell):
                read(shell, "-n", FOLDER / file)

    def test_a_folder_that_cannot_be_written(self):
        done = subprocess.run([RUNG, "--write-manual", "/dev/null/x"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertTrue(done.stderr.startswith("rung: "))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
