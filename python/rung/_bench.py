"""rung.bench()"""


def bench(*selectors, **options):
    """Verifies rungs, times them against the installed libraries, and returns the results.

    Runs `rung bench`, whose options are the keywords: underscores are dashes, True is a flag, and a list
    or tuple is a list with commas. The result is the JSON of `rung bench --json`, as a dict. What the
    command prints goes to standard error.

    Parameters
    ----------
    selectors : str
        Ops, ladders or rungs, such as "gemm/cpu" or "gemm/cpu/05".

    Raises
    ------
    ValueError
        With the command's message, if it refuses an argument.
    rung.UnavailableError
        If a device or a rung is not available here.

    >>> import rung
    >>> results = rung.bench("gemm/cpu/05", n=64, seconds=0.01, vs="none")
    >>> [(each["rung"], each["m"]) for each in results["results"]]
    [('gemm/cpu/05_micro_kernel', 64), ('library', 64)]
    """
    import json
    import subprocess

    from ._command import PROGRAM
    from ._core import UnavailableError

    command = [PROGRAM, "bench", *selectors]
    for name, value in options.items():
        if value is False or value is None:
            continue
        command.append("--" + name.replace("_", "-"))
        if value is not True:
            command.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    done = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, check=False)
    if done.returncode in (2, 3):
        error = ValueError if done.returncode == 2 else UnavailableError
        raise error(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0 and not done.stdout:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)
