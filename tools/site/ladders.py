"""The ladders: their rungs in order, the header and source of each, and the measurements that show them."""

import dataclasses
import pathlib
import re
import sys

import results
import units

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import rung_headers  # noqa: E402  (the parser of the header comments)

TITLES = {
    "gemm/cuda": ("Matrix product, CUDA", "From one thread per element to warp-specialized tensor-core pipelines."),
    "gemm/cpu": ("Matrix product, CPU", "From three loops to packed, vectorized and threaded blocks."),
    "gemm/metal": ("Matrix product, Metal", "From one thread per element to simdgroup matrices, on Apple GPUs."),
    "dot/cuda": ("Dot product, CUDA", "From one product per thread to a single launch at the memory's bandwidth."),
    "dot/cpu": ("Dot product, CPU", "From one accumulator to several vectors and streams."),
    "dot/metal": ("Dot product, Metal", "The same tree of sums on Apple GPUs."),
}
EXTENSIONS = {"cuda": "cu", "cpu": "cpp", "metal": "metal"}


def _sentence(text):
    """The text with a capital letter, unless it begins with the name of an instruction, such as tcgen05.mma."""
    is_name = re.match(r"\w*[\d.]\w", text)
    return text if is_name else text[0].upper() + text[1:]


@dataclasses.dataclass
class Step:
    """A rung of a ladder."""

    id: str
    info: dict
    path: object
    header: dict
    source: str

    @property
    def slug(self):
        return self.id.rsplit("/", 1)[1]

    @property
    def number(self):
        return self.slug[:2]

    @property
    def title(self):
        words = self.slug[3:].replace("_", " ")
        for name in ("tma", "wmma", "wgmma", "simd"):
            words = re.sub(rf"\b{name}\b", name.upper() if name in ("tma", "simd") else name, words)
        words = words.replace("split k", "split-K")
        return _sentence(words)

    @property
    def idea(self):
        return _sentence(self.header["idea"].rstrip(".")) + "."

    @property
    def needs_blackwell(self):
        return bool(re.search(r"sm_1[0-9]{2}", self.header["needs"]))

    @property
    def dtype(self):
        """The type that its page is about: f32 if it has that."""
        types = self.info["dtypes"]
        return "f32" if "f32" in types else types[0]

    @property
    def on_gpu(self):
        return self.info["backend"] != "cpu"


@dataclasses.dataclass
class Study:
    """Rungs of one ladder, measured in one run at one size: the bars of a chart."""

    machine: str
    file: object
    size: dict
    rows: dict  # by rung
    library: dict

    @property
    def dtype(self):
        return self.size["dtype"]


class Ladder:
    def __init__(self, name, steps, studies):
        self.name = name
        self.op, self.backend = name.split("/")
        self.title, self.summary = TITLES.get(name, (name, ""))
        self.steps = steps
        self.studies = studies

    def step(self, slug):
        return next((step for step in self.steps if step.slug == slug), None)

    def before(self, step):
        """The rung that `step` comes from."""
        return self.step(step.info["from"]) if step.info["from"] else None

    def study_of(self, step):
        return next((study for study in self.studies if step.id in study.rows), None)

    def share_of(self, step):
        """The rung's share of its study's ceiling, by which rungs of several types can be compared."""
        study = self.study_of(step)
        limit = results.ceiling(study.rows[step.id]) if study else None
        if not limit:
            return None
        rate = results.value(study.rows[step.id])
        text = units.bandwidth(rate) if results.is_dot(study.size) else units.rate(rate)
        return {"part": min(1, rate / limit), "percent": units.percent(rate / limit), "text": text}


def load(project, rung, folders):
    """All ladders, in the order of TITLES."""
    listed = [info for info in rung.json("list", "--json", "-") if re.match(r"\d\d_", info["id"].rsplit("/", 1)[1])]
    ladders = {}
    for info in listed:
        name = f"{info['op']}/{info['backend']}"
        path = project / "ladder" / f"{info['id']}.{EXTENSIONS[info['backend']]}"
        if not path.exists():
            continue  # an op that shares another's files, such as sum
        step = Step(info["id"], info, path, rung_headers.header(path), path.read_text())
        ladders.setdefault(name, []).append(step)
    order = [name for name in TITLES if name in ladders] + [name for name in ladders if name not in TITLES]
    return [Ladder(name, ladders[name], studies(ladders[name], folders)) for name in order]


def studies(steps, folders):
    """One study for each type: that of the most rungs, and of these the one of the largest size and most threads."""
    ids = {step.id for step in steps}
    best = {}
    for folder, files in folders.items():
        for file in files:
            for study in studies_of_file(folder, file, ids):
                rank = (len(study.rows), study.size["n"] or 0, study.size.get("threads", 1))
                kept = best.get(study.dtype)
                if len(study.rows) > 2 and (kept is None or rank > kept[0]):
                    best[study.dtype] = (rank, study)
    order = ["f32", "bf16", "f64"]
    found = [study for _, study in best.values()]
    return sorted(found, key=lambda study: order.index(study.dtype) if study.dtype in order else len(order))


def studies_of_file(folder, file, ids):
    sizes = {}
    for result in file.results if file.random is None else []:
        key = tuple(result.get(extent) for extent in ("m", "n", "k"))
        sizes.setdefault(key, []).append(result)
    for group in sizes.values():
        rows = {result["rung"]: result for result in group if result["rung"] in ids}
        library = next((result for result in group if results.usual(result)), None)
        if rows and library:
            yield Study(folder, file, library, rows, library)
