"""Candidates made from one text: right ones, and wrong ones by small changes."""

import dataclasses
import hashlib
import re


@dataclasses.dataclass(frozen=True)
class Specimen:
    """A candidate whose verdict is known.

    Attributes
    ----------
    name : str
    kind : str
        "right", or what is wrong with it.
    text : str or callable
        As `rung.referee.judge` takes it.
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

    Kernels of one family are one file, with a namespace for each specimen, so that they are compiled at once.

    Parameters
    ----------
    task : dict or str
        An operation's name is short for {"operation": name}.
    right, wrong : dicts
        Changes by name: {"variant": [(old, new), …]} and {"variant": (kind, [(old, new), …])}. The text itself is right.
    """
    task = {"operation": task} if isinstance(task, str) else task
    made = [Specimen(name, "right", text, task)]
    for variant, changes in dict(right).items():
        made.append(Specimen(f"{name}/{variant}", "right", _changed(f"{name}/{variant}", text, changes), task))
    for variant, (kind, changes) in dict(wrong).items():
        made.append(Specimen(f"{name}/{variant}", kind, _changed(f"{name}/{variant}", text, changes), task))
    yield from _in_one_file(made) if "// referee: launch" in text and "metal_stdlib" not in text else made


_REFEREE = re.compile(r"^// referee: (.*)\n", re.MULTILINE)
_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)


def _in_one_file(made):
    includes = "".join(dict.fromkeys(line for each in made for line in _INCLUDE.findall(each.text)))
    bodies = [_INCLUDE.sub("", _REFEREE.sub("", each.text)) for each in made]
    text = includes + "".join(f"namespace v{number} {{{body}}}\n" for number, body in enumerate(bodies))
    for number, each in enumerate(made):
        lines = [re.sub(r"^launch ", f"launch v{number}::", line) for line in _REFEREE.findall(each.text)]
        yield dataclasses.replace(each, text=text, task={**each.task, "launch": lines})


def _changed(name, text, changes):
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{name}: the text has no {old!r}")
        text = text.replace(old, new)
    return text
