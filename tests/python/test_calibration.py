"""The calibration suite of rung.referee: an eighth of it, all verdicts right."""

import os
import shutil

import pytest

from rung.referee import calibration
from rung.referee.calibration.__main__ import run, summary

pytestmark = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang++-19", "clang++-20", "clang++-21")) and not os.environ.get("RUNG_CLANG"),
    reason="no clang 19")


def test_an_eighth():
    found = summary(run(calibration.specimens()[::8], jobs=2))
    assert (found["missed"], found["false_alarms"]) == ([], [])
    assert found["caught"] >= 20 and found["right"] >= 5


def test_the_suite_has_what_its_page_says():
    known = calibration.specimens()
    wrong = [each for each in known if each.kind != "right"]
    assert len({each.name for each in known}) == len(known)
    assert len(wrong) >= 120 and len({each.kind for each in wrong}) >= 20 and len(known) - len(wrong) >= 60
    assert 0.4 * len(known) < sum(each.is_kept_aside for each in known) < 0.6 * len(known)
