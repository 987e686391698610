"""The calibration suite: candidates whose verdicts are known, right, wrong and cheating.

`python -m rung.referee.calibration` judges them, and prints what was caught and missed.
"""

from . import conditions, host_idioms, idioms, moves, products, programs, reported, states, styles, sums


def specimens():
    """All specimens, as a list of Specimen."""
    modules = (products, sums, moves, programs, states, reported, styles, conditions, idioms, host_idioms)
    return [each for module in modules for each in module.specimens()]
