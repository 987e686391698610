"""The report of a launch on the virtual GPU: counters, hazards, predictions."""

import json


class Hazard(RuntimeError):
    """A race, an access out of bounds, an uninitialised read or the like.

    Attributes
    ----------
    run : rung.Run
    hazards : list of dict
        Those of the run.
    """

    def __init__(self, run):
        self.run = run
        self.hazards = run.hazards
        found = [each for each in run.hazards if each["kind"] != "same-value race"] or run.hazards
        more = f"\n({len(found) - 1} more)" if len(found) > 1 else ""
        super().__init__(found[0]["message"] + more)

    def __reduce__(self):
        return type(self), (self.run,)


class Run:
    """A launch. All attributes are of this launch alone.

    Attributes
    ----------
    ok : bool
        No hazard was found; writes of the same value by several threads count as none.
    hazards : list of dict
        "kind", "message", "count", "first" and "other", each with "file", "line", "block", "thread" and "access".
    counters : dict of str to int
        Counts of the whole launch, named as in `rung run --json`. "global_load_sectors" are sectors of 32 bytes;
        "bank_conflicts" are the shared-memory wavefronts beyond one for each request.
    lines : list of dict
        Counters of each line of the source, hottest first: "line", "text", "instructions", "global_sectors", …
    unwritten : dict of str to int
        The number of poisoned elements that the kernel left unwritten, by parameter.
    printed : str
        The output of the kernel's printf.
    """

    def __init__(self, kernel, reply, launch, given, inputs):
        self.kernel = kernel
        self._server = kernel._server
        self._reply = reply  # JSON, with the run's number, and what the server reports if it is not quiet
        self._launch, self._given, self._inputs = launch, given, inputs
        self._facts = None

    def __del__(self):
        if self.kernel is not None:
            self._server.forgotten_runs.append(self._number())

    def _number(self):
        return int(self._reply[self._reply.rindex(b":") + 1:-1])

    def _all(self):
        if self._facts is None:
            facts = self._facts = json.loads(self._reply)
            if "counters" not in facts:  # the server keeps them until this object goes
                reply = self._server.ask(b'{"report":%d}' % self._number(), b"")[0]
                facts = self._facts = json.loads(reply)
            counters = self._facts["counters"]
            counters["bank_conflicts"] = sum(
                counters[f"shared_{way}_wavefronts"] - counters[f"shared_{way}_requests"] for way in ("load", "store"))
        return self._facts

    ok = property(lambda self: self._all()["right"])
    hazards = property(lambda self: self._all()["hazards"])
    counters = property(lambda self: self._all()["counters"])
    lines = property(lambda self: self._all().get("lines", []))
    unwritten = property(lambda self: self._all()["unwritten"])
    printed = property(lambda self: self._all()["printed"])

    def explained(self, gpu=None):
        """Explains the launch for a GPU: the dict of a kernel in `rung explain --json`.

        The launch is repeated with its inputs, which a run keeps if they have at most 64 MiB.
        """
        return self._repeated(gpu)

    def page(self, gpu=None):
        """The explanation as one HTML page, with a stepper through warps and the memory that each step accesses.

        The page needs no network. The launch is repeated as for `explained`.
        """
        return self._repeated(gpu, ',"page":true')["page"]

    def _repeated(self, gpu, more=""):
        from ._kernel import _error

        if self._inputs is None:
            raise ValueError(f"{self._all()['name']}: the inputs have more than 64 MiB, and were not kept")
        self.kernel._compile()
        gpu = gpu or self.kernel._request["gpu"]
        text = f'{{"kernel":{self.kernel._id},{self._launch},{self._given},"explain":{json.dumps(gpu)}{more}}}'
        reply = json.loads(self.kernel._server.ask(text.encode(), self._inputs)[0])
        if "error" in reply:
            raise _error(reply, self.kernel.name)
        return reply

    def predicted(self, gpu=None):
        """The predicted time of this launch on a GPU, such as "h200", in seconds.

        The model's error has a median of 8 %, and is at most 32 % for nine kernels of ten.
        """
        return self.explained(gpu)["diagnosis"]["predicted_seconds"]

    def __getstate__(self):
        return {"_facts": self._all(), "_inputs": None, "kernel": None}

    def __repr__(self):
        facts = self._all()
        state = "no hazards" if self.ok else f"{len(self.hazards)} hazard{'s' * (len(self.hazards) > 1)}"
        return f"<rung.Run {facts['name']} grid {facts['grid']} block {facts['block']}: {state}>"

    def _repr_html_(self):
        """For notebooks: hazards, the counters of each line, and below them the page with the stepper, folded."""
        from html import escape

        facts = self._all()
        rows = "".join(
            "<tr>" + "".join(f"<td>{line[name]:,}</td>" for name in _COLUMNS)
            + f"<td>{escape(line['line'])}</td><td style='text-align:left'><code>{escape(line['text'])}</code></td></tr>"
            for line in self.lines)
        heads = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in (*_COLUMNS, "line", "source"))
        found = "".join(f"<li>{escape(each['message'])}</li>" for each in self.hazards)
        hazards = f"<ul style='color:#b00'>{found}</ul>" if found else "<p>no hazards</p>"
        return (f"<p><b>{escape(facts['name'])}</b>, grid {facts['grid']}, block {facts['block']}</p>{hazards}"
                f"<table><tr>{heads}</tr>{rows}</table>{self._folded_page()}")

    def _folded_page(self):
        """The page in a frame of its own, whose styles and scripts do not reach the notebook. Empty for long launches,
        which a display must not repeat, for those that failed, and where the page is large."""
        from html import escape

        if self._inputs is None or not self.ok or self.counters["instructions"] > _MOST_REPEATED:
            return ""
        try:
            page = self.page()
        except (RuntimeError, ValueError):
            return ""  # such as a GPU without public rates
        if len(page) > _LARGEST_PAGE:
            return "<p>The page with the stepper is large: <code>run.page()</code> returns it.</p>"
        return ("<details><summary>Explanation, access maps and steps of a warp</summary><iframe sandbox='allow-scripts'"
                f" style='width:100%;height:40em;border:0' srcdoc=\"{escape(page)}\"></iframe></details>")


_MOST_REPEATED = 5_000_000  # warp instructions, some 0.2 s
_LARGEST_PAGE = 500_000  # characters
_COLUMNS = ("instructions", "global_requests", "global_sectors", "shared_requests", "shared_wavefronts")
