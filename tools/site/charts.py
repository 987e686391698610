"""Bars of a ladder: what the templates draw as HTML, so that labels keep their size on every screen."""

import results
import units

PEERS = {
    "cublas": "cuBLAS",
    "cublaslt": "cuBLASLt",
    "cub": "CUB",
    "openblas": "OpenBLAS",
    "onednn": "oneDNN",
    "mkl": "MKL",
    "blis": "BLIS",
}


def show(result, value):
    return units.bandwidth(value) if results.is_dot(result) else units.rate(value)


def other(kind, title, idea, study, rate, top):
    """The bar of something that is no rung."""
    return {
        "kind": kind,
        "title": title,
        "idea": idea,
        "value": rate,
        "text": show(study.library, rate),
        "part": rate / top,
    }


def bars(ladder, study, url):
    """One bar for each rung that the study measured, then the library, its fastest peer, and the ceiling."""
    limit = results.ceiling(study.library)
    others = results.peers(study.library)
    top = max([limit or 0, *(results.value(row) for row in study.rows.values()), *(rate for _, rate, _ in others[:1])])
    first = None
    found = []
    for step in ladder.steps:
        result = study.rows.get(step.id)
        if result is None:
            continue
        rate = results.value(result)
        first = first or rate
        found.append(
            {
                "kind": "rung",
                "number": step.number,
                "slug": step.slug,
                "title": step.title,
                "idea": step.idea,
                "url": url(step),
                "removes": step.header["removes"],
                "value": rate,
                "text": show(result, rate),
                "part": rate / top,
                "gain": units.times(rate / first) if rate != first else "",
                "of_ceiling": units.percent(rate / limit) if limit else "",
                "of_peer": units.percent(rate / others[0][1]) if others else "",
            }
        )
    library = results.value(study.library)
    found.append(other("library", "Rung, the library", "the kernel that the library chooses", study, library, top))
    for name, rate, _ in others[:1]:
        found.append(
            other("peer", PEERS.get(name, name), "the fastest library that was timed next to it", study, rate, top)
        )
    return {
        "bars": found,
        "limit": limit / top if limit else None,
        "limit_text": show(study.library, limit) if limit else "",
        "peer": PEERS.get(others[0][0], others[0][0]) if others else "",
        "dtype": study.dtype,
        "size": units.size(study.size),
        "machine": study.machine,
        "file": study.file.path.as_posix(),
        "threads": study.size.get("threads") if ladder.backend == "cpu" else None,
        "date": study.file.machine.get("date", "")[:10],
    }
