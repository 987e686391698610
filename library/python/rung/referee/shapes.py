"""Hidden shapes, drawn around the edges where kernels are wrong."""

_PRIMES = [p for p in range(2, 4000) if all(p % q for q in range(2, int(p ** 0.5) + 1))]
_TILES = [8, 16, 32, 64, 128, 256, 512, 1024, 2048]


def _extent(rng, kind, most):
    if kind == "one":
        return 1
    if kind == "zero":
        return 0
    if kind == "prime":
        return int(rng.choice([p for p in _PRIMES if p <= most] or [1]))
    if kind == "tile":
        return int(rng.choice([t for t in _TILES if t <= most] or [most]))
    if kind == "edge":
        edges = [t + by for t in _TILES for by in (-1, 1) if t + by <= most]
        return int(rng.choice(edges or [most]))
    if kind == "multiple":  # of one width of vectors, and of no larger one
        step = int(rng.choice([each for each in (2, 4, 8, 16) if each <= most] or [1]))
        return step * (1 + 2 * int(rng.integers(0, (most // step + 1) // 2)))
    if kind == "most":
        return most
    return int(rng.integers(1, most + 1))


_KINDS = ["edge", "prime", "any", "tile", "multiple", "edge", "one", "prime", "edge", "multiple"]


def hidden(rng, count, limits, zeros=False, multiples=None, choices=None, weight=None, most_weight=0):
    """Draws `count` distinct shapes, dicts of extents.

    Parameters
    ----------
    limits : dict of str to int
        The largest extent of each size.
    zeros : bool
        One shape in ten has an extent of 0.
    multiples, choices : dicts
        Sizes that are multiples of a number, or one of a list.
    weight, most_weight : callable, number
        Shapes whose weight is larger are drawn again.
    """
    multiples, choices = multiples or {}, choices or {}
    found = []
    for attempt in range(60 * count):
        if len(found) == count:
            break
        number = len(found)
        shape = {}
        for index, (name, most) in enumerate(limits.items()):
            # The first shapes have each extent at 1 and at its limit in turn.
            kind = str(rng.choice(_KINDS))
            if number < 2 * len(limits) and number // 2 == index:
                kind = ("one", "most")[number % 2]
            elif zeros and number % 10 == 9 and index == (number // 10) % len(limits):
                kind = "zero"
            if name in choices:
                shape[name] = int(rng.choice(choices[name]))
                continue
            extent, step = _extent(rng, kind, most), multiples.get(name, 1)
            shape[name] = min(-(-extent // step) * step, max(step, most // step * step))
        if weight is not None and weight(shape) > most_weight:
            # Halve the longest extents until the shape is within the limit of work.
            while weight(shape) > most_weight and any(each > 1 for each in shape.values()):
                name = max((each for each in shape if each not in choices), key=shape.get)
                step = multiples.get(name, 1)
                if shape[name] <= step:
                    break
                shape[name] = max(step, (shape[name] // 2 | 1) // step * step)
        if shape not in found and (weight is None or weight(shape) <= most_weight):
            found.append(shape)
    return found
