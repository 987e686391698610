"""Tests of include_directions.py, on this tree and on small ones with errors."""

import os
import pathlib
import tempfile
import unittest

import include_directions

ROOT = pathlib.Path(__file__).resolve().parents[2]


class IncludeDirections(unittest.TestCase):
    def test_every_include_is_allowed(self):
        self.assertEqual(include_directions.violations(ROOT), [])

    def test_allowed_directions_have_no_cycle(self):
        self.assertEqual(include_directions.cycle(), [])

    def test_every_allowed_direction_is_used(self):
        used = {(start, end) for *_, start, end in include_directions.edges(ROOT)}
        allowed = {(start, end) for start, ends in include_directions.ALLOWED.items() for end in ends}
        self.assertEqual(sorted(allowed - used), [])

    def test_every_folder_exists(self):
        self.assertEqual([each for each in include_directions.ALLOWED if not os.path.isdir(ROOT / each)], [])


class OfAnotherTree(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                pathlib.Path(root, path).write_text(text)
            return include_directions.violations(root)

    def test_a_reversed_include_is_found(self):
        found = self.violations({
            "vgpu/model/warp.hpp": '\n#include "vgpu/engine/execution/block.hpp"\n',
            "vgpu/engine/execution/block.hpp": '#include "vgpu/model/warp.hpp"\n',
        })
        self.assertEqual(found, [
            "vgpu/model/warp.hpp:2: vgpu/model may not include vgpu/engine "
            "(vgpu/engine/execution/block.hpp)"
        ])

    def test_selection_includes_no_backend(self):
        found = self.violations({
            "select/cuda/tuned.hpp": '#include "backends/cuda/gpu.hpp"\n',
            "backends/cuda/gpu.hpp": '#include "select/cuda/tuned.hpp"\n',
        })
        self.assertEqual(found, [
            "select/cuda/tuned.hpp:1: select/cuda may not include backends (backends/cuda/gpu.hpp)"
        ])

    def test_a_path_from_the_file_itself_is_followed(self):
        found = self.violations({
            "core/problem.hpp": '# include "../backends/backend.hpp"\n',
            "backends/backend.hpp": "",
        })
        self.assertEqual(len(found), 1)

    def test_a_folder_that_is_not_listed_may_include_no_other(self):
        found = self.violations({"tools/new/a.cpp": '#include "core/problem.hpp"\n', "core/problem.hpp": ""})
        self.assertEqual(len(found), 1)

    def test_a_cycle_is_found(self):
        allowed = include_directions.ALLOWED
        include_directions.ALLOWED = {"a": ["b"], "b": ["c"], "c": ["b"]}
        try:
            self.assertEqual(include_directions.cycle(), ["b", "c", "b"])
        finally:
            include_directions.ALLOWED = allowed


if __name__ == "__main__":
    unittest.main()
