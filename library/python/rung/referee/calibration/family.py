"""Candidates made from one text: right ones, and wrong ones by small changes."""

import dataclasses
import hashlib


@dataclasses.dataclass(frozen=True)
class Specimen:
    """A candidate whose verdict is known.

    Attributes
    ----------
    name : str
    kind : str
        "right", or what is wrong with it.
    text : str
    task : dict
    """

    name: str
    kind: str
    text: str
    task: dict

    @property
    def is_kept_aside(self):
        """True for the half that was not looked at while the rules were written."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


def family(name, task, text, right=(), wrong=()):
    """Yields the specimens of a text.

    Parameters
    ----------
    task : dict or str
        An operation's name is short for {"operation": name}.
    right, wrong : dicts
        Changes by name: {"variant": [(old, new), …]} and {"variant": (kind, [(old, new), …])}. The text itself is right.
    """
    task = {"operation": task} if isinstance(task, str) else task
    yield Specimen(name, "right", text, task)
    for variant, changes in dict(right).items():
        yield Specimen(f"{name}/{variant}", "right", _changed(f"{name}/{variant}", text, changes), task)
    for variant, (kind, changes) in dict(wrong).items():
        yield Specimen(f"{name}/{variant}", kind, _changed(f"{name}/{variant}", text, changes), task)


def _changed(name, text, changes):
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{name}: the text has no {old!r}")
        text = text.replace(old, new)
    return text
