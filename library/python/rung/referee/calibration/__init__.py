"""The calibration suite: candidates whose verdicts are known, right, wrong and cheating.

`python -m rung.referee.calibration` judges them, and prints what was caught and missed.
"""

from . import moves, products, programs, reported, states, styles, sums


def specimens():
    """All specimens, as a list of Specimen."""
    return [each for module in (products, sums, moves, programs, states, reported, styles) for each in module.specimens()]
