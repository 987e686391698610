"""The benchmarks: data of each machine as a script, tables of percentiles that need none, and the files themselves."""

import collections
import csv
import io
import json

import charts
import results
import units

SIZES = (4096, 8192)


def make(site):
    machines = []
    for folder, files in site.folders.items():
        machine = {
            "folder": folder,
            "name": results.name_of(files),
            "files": files,
            "random": random_rows(files),
            "fixed": fixed_rows(files),
        }
        if machine["random"] or machine["fixed"]:
            machines.append(machine)
    machines.sort(
        key=lambda machine: (
            machine["folder"] != "nvidia-h200",
            not machine["folder"].startswith("nvidia"),
            machine["folder"],
        )
    )
    for machine in machines:
        publish(site, machine)
    site.page(
        "benchmarks/index.html",
        "benchmarks.html",
        section="benchmarks",
        title="Benchmarks",
        machines=machines,
        units=units,
    )
    site.index.add(
        "Benchmarks",
        "benchmarks/index.html",
        "Benchmarks",
        "Random shapes and fixed sizes, Rung against vendor libraries, "
        + ", ".join(machine["name"] for machine in machines),
    )


def fastest(result):
    """The name and time of the fastest peer."""
    found = [(peer["seconds"], name) for name, peer in result["peers"].items() if peer.get("seconds")]
    return min(found) if found else (None, None)


def random_rows(files):
    """All random shapes of a machine that were verified and compared."""
    rows = []
    for file in files:
        if file.random is None:
            continue
        for result in file.results:
            seconds, peer = fastest(result)
            if result.get("verified") and result.get("ratio") and peer:
                rows.append(
                    {
                        "dtype": result["dtype"],
                        "layout": result["layout"],
                        "m": result["m"],
                        "n": result["n"],
                        "k": result["k"],
                        "ratio": result["ratio"],
                        "seconds": result["seconds"],
                        "gflops": result["flops"] / result["seconds"] / 1e9,
                        "peer": charts.PEERS.get(peer, peer),
                        "peer_seconds": seconds,
                        "rung": result["rung"].rsplit("/", 1)[1],
                        "threads": file.random.get("threads") or 0,
                        "limit": file.random["max_size"],
                        "seed": file.random["seed"],
                    }
                )
    return rows


def fixed_rows(files):
    """The library at the sizes of the lists."""
    rows = {}
    for file in files:
        for result in file.results if file.random is None else []:
            if results.usual(result) and results.peers(result) and "ladder" not in file.path.name:
                name, _, ratio = results.peers(result)[0]
                limit = results.ceiling(result)
                key = (
                    result["op"],
                    result["dtype"],
                    result.get("threads") if "gpu" not in file.machine else 0,
                    units.size(result),
                )
                rows[key] = {
                    "op": result["op"],
                    "dtype": result["dtype"],
                    "layout": result.get("layout", ""),
                    "size": units.size(result),
                    "threads": key[2],
                    "flops": result["gflops"] * result["seconds"]["median"],
                    "seconds": result["seconds"]["median"],
                    "rate": results.value(result),
                    "rate_text": charts.show(result, results.value(result)),
                    "of_ceiling": results.value(result) / limit if limit else None,
                    "peer": charts.PEERS.get(name, name),
                    "ratio": ratio,
                }
    return list(rows.values())


def publish(site, machine):
    folder = machine["folder"]
    for file in machine["files"]:
        site.copy(f"results/{file.path.as_posix()}")
    machine["groups"] = groups(machine["random"])
    machine["threads"] = sorted({row["threads"] for row in machine["random"]})
    if machine["random"]:
        machine["csv"] = f"benchmarks/{folder}-random.csv"
        site.write(machine["csv"], as_csv(machine["random"]))
        site.write(f"benchmarks/{folder}.js", as_script(folder, machine["random"]))
    if machine["fixed"]:
        machine["fixed_csv"] = f"benchmarks/{folder}-sizes.csv"
        site.write(
            machine["fixed_csv"],
            as_csv([{k: v for k, v in row.items() if k != "rate_text"} for row in machine["fixed"]]),
        )


def groups(rows):
    """Percentiles of each type, number of threads and largest size."""
    ratios = collections.OrderedDict()
    for row in sorted(rows, key=lambda row: (row["dtype"], row["threads"], row["limit"])):
        ratios.setdefault((row["dtype"], row["threads"], row["limit"]), []).append(row["ratio"])
    return [
        {"dtype": dtype, "threads": threads, "limit": limit, **results.summary(found)}
        for (dtype, threads, limit), found in ratios.items()
    ]


def as_csv(rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def as_script(folder, rows):
    """Columns with names by index, each distinct name once; a third of the size of objects."""
    names = {column: sorted({row[column] for row in rows}) for column in ("dtype", "layout", "peer", "rung")}
    at = {column: {name: index for index, name in enumerate(known)} for column, known in names.items()}
    packed = [
        [
            at["dtype"][row["dtype"]],
            at["layout"][row["layout"]],
            row["m"],
            row["n"],
            row["k"],
            round(row["ratio"], 4),
            float(f"{row['seconds']:.4g}"),
            float(f"{row['gflops']:.5g}"),
            at["peer"][row["peer"]],
            float(f"{row['peer_seconds']:.4g}"),
            at["rung"][row["rung"]],
            row["threads"],
            row["limit"],
        ]
        for row in rows
    ]
    return f"window.rungBenchmarks({json.dumps(folder)}, {json.dumps({'names': names, 'rows': packed}, separators=(',', ':'))});\n"
