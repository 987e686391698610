"""A candidate's text: its launch lines, or its host function.

A file of kernels says in comments how to launch them, with expressions of the task's sizes:

    // referee: workspace partial float32 cdiv(n, 256)
    // referee: clear result
    // referee: launch reduce<256> grid=cdiv(n, 256) block=256 shared=1024 args=(x, partial, n)
    // referee: launch finish grid=1 block=256

Parameters without `args` are found by name, or by position: arrays and sizes in the order of the task. `clear` fills an
array with zero bytes; `times=EXPRESSION` repeats a launch, with `step` as a name. Metal has `groups` and `group`, or
`grid` in threads.
"""

import dataclasses
import hashlib
import os
import re

_LINE = re.compile(r"^\s*//\s*referee:\s*(\w+)\s+(.*?)\s*$", re.MULTILINE)
_KEY = re.compile(r"\s(grid|groups|block|group|shared|args|times)=")
_CLANG = re.compile(r"\b__(?:clang\w*|llvm__|CUDA__)")
_SUFFIXES = (".cu", ".metal", ".ptx")
_LANGUAGES = ("cuda", "metal", "ptx")


class CandidateError(ValueError):
    """A candidate that cannot be run: one line says why."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A launch, or an array to clear."""

    kind: str  # "launch" or "clear"
    name: str  # of the kernel, or the array
    options: tuple = ()  # (key, expression) pairs

    def get(self, key, default=None):
        return dict(self.options).get(key, default)


@dataclasses.dataclass
class Candidate:
    """A candidate's text and what its comments say.

    Attributes
    ----------
    path : str or None
    text : str
    language : str
        "cuda", "metal" or "ptx".
    steps : list of Step
        Empty for a candidate with a host function.
    workspaces : dict of str to (dtype, expression)
    """

    path: str
    text: str
    language: str
    steps: list
    workspaces: dict

    @property
    def name(self):
        return os.path.basename(self.path) if self.path else f"candidate{_SUFFIXES[_LANGUAGES.index(self.language)]}"

    @property
    def compiled_text(self):
        """The text as nvcc reads it: clang's macros are not defined there."""
        return _CLANG.sub("__rung_not_clang__", self.text) if self.language == "cuda" else self.text

    @property
    def file(self):
        """The path, if the file is compiled as it is."""
        return self.path if self.compiled_text == self.text else None

    @property
    def folders(self):
        """Folders of headers, for a text that is not compiled in its own folder."""
        return () if self.path is None or self.file is not None else (os.path.dirname(self.path),)

    @property
    def digest(self):
        return hashlib.sha256(self.text.encode()).hexdigest()


def read(source, launch=()):
    """The candidate of a path or a text, with the task's launch lines if it has none."""
    path, text = None, source
    if isinstance(source, os.PathLike) or ("\n" not in source and source.endswith(_SUFFIXES)):
        path = os.path.abspath(os.fspath(source))
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    steps, workspaces = [], {}
    for kind, rest in _LINE.findall(text) or [each.partition(" ")[::2] for each in launch]:
        if kind == "workspace":
            words = rest.split(None, 2)
            if len(words) != 3:
                raise CandidateError(f"referee: workspace {rest}: expected NAME DTYPE ELEMENTS")
            workspaces[words[0]] = (words[1], words[2])
        elif kind == "clear":
            steps.append(Step("clear", rest))
        elif kind == "launch":
            steps.append(_launch(rest))
        else:
            raise CandidateError(f"referee: '{kind}' is unknown; expected launch, clear or workspace")
    return Candidate(path, text, _language(path, text), steps, workspaces)


def _launch(text):
    name, *parts = _KEY.split(" " + text)
    options = tuple(zip(parts[::2], (each.strip() for each in parts[1::2])))
    keys = {key for key, _ in options}
    if not name.strip() or not keys & {"grid", "groups"} or not keys & {"block", "group"}:
        raise CandidateError(f"referee: launch {text}: expected KERNEL grid=… block=… [shared=…] [args=(…)] [times=…]")
    return Step("launch", name.strip(), options)


def _language(path, text):
    if path:
        return dict(zip(_SUFFIXES, _LANGUAGES)).get(os.path.splitext(path)[1], "cuda")
    from .._kernel import _language as of_text
    return of_text(text)


def without_comments(text):
    """The text without comments; strings stay."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\""
    return re.sub(pattern, lambda found: found[0] if found[0].startswith('"') else " ", text, flags=re.DOTALL)


def code_of(text):
    """The text without comments, and with empty strings."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\""
    return re.sub(pattern, lambda found: '""' if found[0].startswith('"') else " ", text, flags=re.DOTALL)
