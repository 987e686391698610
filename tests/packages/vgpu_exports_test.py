"""Checks that vgpu/vgpu.map exports all symbols of librung_vgpu that programs use, and none of the C++ library, and that it
calls nothing of a glibc after 2.28.

Only wheels need that. Ninja provides the list of objects that a program is linked from, so it is complete.
"""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import unittest


def objects_of(files):
    """For each object file, also in archives: the sets of its defined and undefined symbols."""
    listing = subprocess.run(
        ["nm", "-A", "--extern-only", "--format=posix", *files], check=True, capture_output=True, text=True
    ).stdout
    objects = {}
    for line in listing.splitlines():
        origin, _, symbol = line.partition(": ")
        name, kind = symbol.split()[:2]
        defined, undefined = objects.setdefault(origin, (set(), set()))
        (undefined if kind == "U" else defined).add(name)
    return objects.values()


def demangled(symbols):
    said = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True).stdout
    return dict(zip(symbols, said.splitlines()))


def linked_files(build, program):
    """The object files and archives of this build from which a program or a library is linked."""
    target = program.relative_to(build)
    command = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "-s", target], check=True, capture_output=True, text=True
    ).stdout
    return {build / word for word in command.split() if re.fullmatch(r"[^-/].*\.[oa]", word)}


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

    def missing(self, wanted):
        return sorted(cpp for symbol, cpp in demangled(wanted).items() if not self.has(symbol, cpp))


class VgpuExportsTest(unittest.TestCase):
    maxDiff = None

    map: pathlib.Path
    build: pathlib.Path
    library: list
    programs: list

    def setUp(self):
        self.exports = Exports(self.map.read_text())

    def wanted_by(self, program, offered):
        """The symbols of the library that a program's own objects and archives leave undefined."""
        own = [
            (defined, undefined)
            for defined, undefined in objects_of(linked_files(self.build, program))
            if not defined <= offered  # a copy of an object of the library
        ]
        defined = set().union(*(defined for defined, _ in own))
        return set().union(*(undefined for _, undefined in own)) & offered - defined

    def test_all_that_programs_call_is_exported(self):
        offered = set().union(*(defined for defined, _ in objects_of(self.library)))
        for program in self.programs:
            wanted = self.wanted_by(program, offered)
            self.assertTrue(wanted, f"{program} calls nothing of the library")
            self.assertEqual(self.exports.missing(wanted), [], program)

    def test_no_symbol_that_other_libraries_share_is_exported(self):
        shared = [
            "_ZNSt6locale7classicEv",
            "_ZNSt7num_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEE2idE",
            "_ZTISt9exception",
            "_ZSt16__do_uninit_copyIPKN4rung4vgpu3ptx7OperandEPS3_ET0_T_S8_S7_",
            "_Znwm",
            "_ZZN4rung10dot_cpu_024Simd3runIddEET0_RKNS_3DotIT_EEiE3dot",  # a static variable
            "__cxa_throw",
        ]
        self.assertEqual(len(self.exports.missing(shared)), len(shared))

    def test_glibc_2_28_has_all_that_the_library_calls(self):
        linked = subprocess.run(["ldd", self.programs[0]], check=True, capture_output=True, text=True).stdout
        libc = re.search(r"libc\.so\.6 => (\S+)", linked)[1]
        names = subprocess.run(["nm", "-D", libc], check=True, capture_output=True, text=True).stdout
        newer = {name for name, minor in re.findall(r" (\w+)@@GLIBC_2\.(\d+)", names) if int(minor) > 28}
        # This file calls functions that glibc gave a new version under their old one.
        replaced = re.findall(r"\w+", (self.map.parent.parent / "cmake" / "old_glibc.c").read_text())
        called = set().union(*(undefined for _, undefined in objects_of(self.library)))
        self.assertEqual(called & newer - set(replaced), set())

    def test_a_name_that_no_pattern_has_is_missing(self):
        self.assertEqual(self.exports.missing(["_ZN4rung4vgpu6hiddenEv"]), ["rung::vgpu::hidden()"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--map", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--programs", type=pathlib.Path, nargs="+", required=True)
    arguments = parser.parse_args()
    VgpuExportsTest.map = arguments.map
    VgpuExportsTest.build = arguments.build
    VgpuExportsTest.library = arguments.library
    VgpuExportsTest.programs = arguments.programs
    unittest.main(argv=["vgpu_exports_test"])
