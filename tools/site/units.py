"""Numbers as people write them: 772.8 TFLOP/s, 3.99 TB/s, 1.05 ms, 164 k."""


def three_digits(value):
    if value >= 100:
        return f"{value:.1f}" if value < 1000 else f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def scaled(value, units):
    """`value` in the largest of `units` (each 1000 times the one before) in which it is at least 1."""
    index = 0
    while value >= 1000 and index + 1 < len(units):
        value /= 1000
        index += 1
    return f"{three_digits(value)} {units[index]}"


def rate(gflops):
    return scaled(gflops * 1e3, ["MFLOP/s", "GFLOP/s", "TFLOP/s"])


def bandwidth(gbps):
    return scaled(gbps * 1e3, ["MB/s", "GB/s", "TB/s"])


def seconds(value):
    return scaled(value * 1e9, ["ns", "µs", "ms", "s"])


def count(value):
    if value < 1000:
        return f"{value:g}"
    for unit, size in (("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if value < 999.5 * size or unit == "G":
            short = value / size
            return f"{short:.0f} {unit}" if short >= 99.5 else f"{short:.1f} {unit}"


def percent(share):
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def times(ratio):
    return f"{ratio:.0f}×" if ratio >= 99.5 else f"{ratio:.1f}×" if ratio >= 9.95 else f"{ratio:.2f}×"


def elements(n):
    """16777216 as 2^24."""
    power = n.bit_length() - 1
    if n == 1 << power and power >= 10:
        return f"2{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return f"{n:,}"


def size(result):
    """4096³, 16 × 4096 × 4096, 2²⁴ elements"""
    m, n, k = (result.get(extent) for extent in "mnk")
    if m is None:
        return f"{elements(n)} elements"
    return f"{m}³" if m == n == k else f"{m} × {n} × {k}"
