"""rung.bench()"""


def bench(*selectors, **options):
    """Verifies rungs, measures them and the installed vendor libraries, and returns the results.

    Runs the command `rung bench` and returns the JSON output of its option --json as a dict.

    Parameters
    ----------
    *selectors : str
        Operations, ladders or rungs, such as "gemm/cpu" or "gemm/cpu/05".
    **options
        Options of `rung bench`, with underscores for dashes. True passes a flag without a value, a list
        or tuple is joined by commas, and False and None are ignored.

    Returns
    -------
    dict
        The parsed JSON.

    Raises
    ------
    ValueError
        If the command rejects an argument; has the command's message.
    rung.UnavailableError
        If a device or rung is not available on this machine.
    RuntimeError
        If the command fails without results.

    Examples
    --------

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
