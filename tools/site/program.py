"""Calls `rung`, several at once, and keeps what it printed until the program changes."""

import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import tempfile

NOT_AVAILABLE = 3  # exit code of rung
SECONDS = 1800  # of one command; the longest takes seconds on an idle machine


class Problem(Exception):
    """One line about what went wrong."""


class Rung:
    def __init__(self, path, cache, jobs):
        self.path = path.resolve()
        self.cache = cache
        self.pool = concurrent.futures.ThreadPoolExecutor(max(1, jobs))
        cache.mkdir(parents=True, exist_ok=True)

    def stamp(self):
        """Changes whenever the program or a library next to it is linked again."""
        files = [self.path, *sorted(self.path.parent.glob("rung-*")), *sorted(self.path.parent.glob("librung*.so"))]
        return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]

    def start(self, *arguments, **options):
        """A future of what run() returns."""
        return self.pool.submit(self.run, *arguments, **options)

    def run(self, *arguments, inputs=(), makes=None, allowed=(0,)):
        """Standard output, or None if the command is not available on this machine; with `makes`, the name of a file
        that the command writes, a list of both. `inputs` are files that it reads; a change of one runs it again."""
        read = [hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs]
        key = hashlib.sha256(json.dumps([self.stamp(), arguments, read]).encode()).hexdigest()[:32]
        kept = self.cache / f"{key}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        printed = self.output(arguments, inputs, makes, allowed)
        with tempfile.NamedTemporaryFile("w", dir=self.cache, delete=False) as file:
            json.dump(printed, file)
        pathlib.Path(file.name).replace(kept)
        return printed

    def output(self, arguments, inputs, makes, allowed):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path in inputs:
                (folder / path.name).write_bytes(path.read_bytes())
            done = subprocess.run(
                [self.path, *arguments], capture_output=True, text=True, cwd=folder, check=False, timeout=SECONDS
            )
            made = (folder / makes).read_text() if makes and (folder / makes).exists() else None
        if done.returncode == NOT_AVAILABLE:
            return None
        if done.returncode not in allowed:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Problem(f"rung {' '.join(arguments)}: exit code {done.returncode}: {last}")
        printed = done.stdout + done.stderr if inputs else done.stdout
        return [printed, made] if makes else printed

    def json(self, *arguments):
        text = self.run(*arguments)
        return None if text is None else json.loads(text)
