"""Whether src/vgpu/vgpu.map names all that programs call of librung_vgpu, which only wheels link that way."""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import unittest


def names(files, *choice):
    """Symbols of object files and archives, mangled, with what they are called in C++."""
    listing = subprocess.run(
        ["nm", *choice, "--format=posix", *files], check=True, capture_output=True, text=True
    ).stdout
    mangled = {line.split()[0] for line in listing.splitlines() if len(line.split()) >= 2}
    demangled = subprocess.run(
        ["c++filt"], input="\n".join(mangled), check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return dict(zip(mangled, demangled))


class Exports:
    def __init__(self, script):
        text = re.sub(r"#.*", "", script)
        exported = text[text.index("global:") : text.index("local:")]
        block = re.search(r'extern "C\+\+" \{(.*?)\}', exported, re.DOTALL)
        self.demangled = [word.strip() for word in block[1].split(";") if word.strip()]
        rest = exported.replace(block[0], "").replace("global:", "")
        self.mangled = [word.strip() for word in rest.split(";") if word.strip()]

    def has(self, mangled, demangled):
        return any(fnmatch.fnmatchcase(demangled, p) for p in self.demangled) or any(
            fnmatch.fnmatchcase(mangled, p) for p in self.mangled
        )

    def missing(self, wanted, offered):
        return sorted(
            cpp for symbol, cpp in wanted.items() if symbol in offered and not self.has(symbol, cpp)
        )


class VgpuExportsTest(unittest.TestCase):
    maxDiff = None

    map: pathlib.Path
    library: list
    programs: list

    def setUp(self):
        self.exports = Exports(self.map.read_text())
        self.offered = names(self.library, "--defined-only", "--extern-only")

    def test_all_that_programs_call_is_exported(self):
        wanted = names(self.programs, "--undefined-only")
        self.assertTrue(set(wanted) & set(self.offered), "the programs call nothing of the library")
        self.assertEqual(self.exports.missing(wanted, self.offered), [])

    def test_a_name_that_no_pattern_has_is_missing(self):
        hidden = {"_ZN4rung4vgpu6hiddenEv": "rung::vgpu::hidden()"}
        self.assertEqual(self.exports.missing(hidden, hidden), ["rung::vgpu::hidden()"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--map", type=pathlib.Path, required=True)
    parser.add_argument("--library", nargs="+", required=True)
    parser.add_argument("--programs", nargs="+", required=True)
    arguments = parser.parse_args()
    VgpuExportsTest.map = arguments.map
    VgpuExportsTest.library = arguments.library
    VgpuExportsTest.programs = arguments.programs
    unittest.main(argv=["vgpu_exports_test"])
