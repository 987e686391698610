"""check_limits.py on small projects, each with one mistake."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_limits.py")


class Limits(unittest.TestCase):
    def said(self, readme="# Project\n\nmake all\n", pages=None):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            files = {"README.md": readme, "Makefile": ".PHONY: all\n\nall check:\n\ttrue\n", **(pages or {})}
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            done = subprocess.run([sys.executable, "-B", CHECK, root], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_a_short_project(self):
        page = "# Page\n\nRead it.\n\n| a | b |\n|---|---|\n| " + "x" * 200 + " | y |\n"
        self.assertEqual(self.said(pages={"docs/page.md": page})[0], 0)

    def test_a_long_readme(self):
        code, text = self.said("# Project\n" + "line\n" * 150)
        self.assertEqual((code, text), (1, "README.md has 151 lines; at most 150\n"))

    def test_a_target_that_does_not_exist(self):
        self.assertIn("make ladder: the Makefile has no such target", self.said("# Project\n\nRun `make ladder`.\n")[1])
        self.assertEqual(self.said("# Project\n\nThey make ladders. `make check`\n")[0], 0)

    def test_many_pages(self):
        pages = {f"docs/{i}.md": "# Page\n\nRead it.\n" for i in range(25)}
        self.assertEqual(self.said(pages=pages)[0], 0)
        self.assertIn("docs/ has 26 pages", self.said(pages={**pages, "docs/notes/one.md": "# Note\n\nRead it.\n"})[1])

    def test_a_page_that_begins_with_code(self):
        text = self.said(pages={"docs/page.md": "# Page\n\n```sh\nls\n```\n"})[1]
        self.assertIn("docs/page.md: begins with '```sh'", text)

    def test_a_long_cell(self):
        page = "# Page\n\nRead it.\n\n| a |\n|---|\n| " + "x" * 201 + " |\n\n```\n| " + "y" * 300 + " |\n```\n"
        code, text = self.said(pages={"docs/page.md": page})
        self.assertEqual((code, text), (1, "docs/page.md:7: a cell of 201 characters; at most 200\n"))


if __name__ == "__main__":
    unittest.main()
