"""A verdict: JSON with a stable schema, Markdown, an exit code."""

import dataclasses
import json

SCHEMA = "rung.referee/1"
EXIT_CODES = {"right": 0, "wrong": 1, "cheating": 1, "unfit": 1}


@dataclasses.dataclass
class Verdict:
    """The judgement of a candidate.

    Attributes
    ----------
    verdict : str
        "right"; "wrong"; "cheating", if a finding accuses; "unfit", if the candidate cannot be compiled or launched.
    findings : list of Finding
    facts : dict
        The other entries of the JSON: candidate, task, seed, calls, worst_error_ratio, times, timing.
    """

    verdict: str
    findings: list
    facts: dict

    @property
    def exit_code(self):
        """0 if the candidate is right, otherwise 1."""
        return EXIT_CODES[self.verdict]

    def rules(self):
        """The rules that the candidate breaks, without notes."""
        return sorted({each.rule for each in self.findings if each.severity != "note"})

    def as_dict(self):
        return {"schema": SCHEMA, "verdict": self.verdict,
                "findings": [dataclasses.asdict(each) for each in self.findings], **self.facts}

    def to_json(self):
        """The verdict as JSON. The same candidate, task, seed and version give the same text."""
        return json.dumps(self.as_dict(), indent=2, sort_keys=False) + "\n"

    def to_markdown(self):
        facts = self.facts
        lines = [f"# {facts['candidate']['name']}: {self.verdict}", "",
                 f"Task {facts['task']['operation']} ({facts['task']['dtype']}), seed {facts['seed']}, virtual"
                 f" {facts['task']['gpu']}: {facts['calls']['right']} of {facts['calls']['run']} calls right, over"
                 f" {facts['calls']['public_shapes']} public and {facts['calls']['hidden_shapes']} hidden shapes."
                 f" Worst error / bound: {facts['worst_error_ratio']:.3g}.", ""]
        if self.findings:
            lines += ["| rule | severity | finding | call |", "|---|---|---|---|"]
            lines += [f"| {each.rule} | {each.severity} | {_cell(each.message)} | {_cell(each.case)} |"
                      for each in self.findings]
            lines.append("")
        if facts["times"]:
            lines += ["| shape | time | least possible | baseline (speedup) |", "|---|--:|--:|--:|"]
            lines += [f"| {each['shape']} | {each['source']} {each['seconds'] * 1e6:.2f} us | {_floor(each)}"
                      f" | {_baseline(each)} |" for each in facts["times"]]
            lines.append("")
        lines.append(_timing(facts["timing"]))
        return "\n".join(lines) + "\n"

    def _repr_markdown_(self):
        return self.to_markdown()


def _cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def _timing(facts):
    """Where the times were measured, and at which clock; or why they were not."""
    if facts["device"] is None:
        return f"Timing on a GPU: {facts['reason']}."
    clock = f", SMs at {facts['sm_mhz'][0]} to {facts['sm_mhz'][1]} MHz" if facts["sm_mhz"] else ""
    limits = f", held back by the {' and the '.join(facts['limited_by'])}" if facts["limited_by"] else ""
    return f"Timed on {facts['device']}{clock}{limits}; the results of the timed calls were verified."


def _baseline(time):
    if "baseline_seconds" not in time:
        return "–"
    return f"{time['baseline_seconds'] * 1e6:.2f} us ({time['speedup']:.2f}x)"


def _floor(time):
    return f"{time['floor_seconds'] * 1e6:.2f} us" if time["floor_seconds"] is not None else "–"
