"""elf_test.py SOURCE BUILD VERSION FILE...: checks installed ELF files: they must be hardened, export exactly
the symbols that their headers declare, and not contain paths of the machine that built them."""

import re
import subprocess
import sys

ALLOWED = {
    "librung.so": r"rung_\w+|rung::(dot|gemm(_batched|_block_scaled|_epilogue|_grouped|_parts|_weight_only)?|pack_weights|packed_weights_bytes|release_cuda_workspace|[gs]et_num_threads)\(.*"
                  r"|(typeinfo|typeinfo name|vtable) for rung::Error",
    "librung_blas.so": r"rung_blas_[gs]et_num_threads|(scipy_)?(cblas_[sd](gemm|dot)(64_)?|[sd](gemm|dot)_(64_)?)"
                       r"|(cblas_)?[sd](gemm|dot)_64|(isamax|[cz]dotc)_(64_)?",
    "librung_cublas.so": r"cublas(Create|Destroy|[SG]et(Stream|PointerMode)|SetWorkspace)_v2|cublas[SG]etMathMode"
                         r"|cublas[SD](gemm|dot)_v2(_64)?|cublas[SD]gemmStridedBatched(_64)?"
                         r"|cublas(Gemm(StridedBatched)?|Dot)Ex(_64)?|cublasLtMatmul",
}


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def problems(path, source, build, version):
    """Yields a message for each problem of one file."""
    name = path.rsplit("/", 1)[-1]
    dynamic, segments = read("readelf", "-dW", path), read("readelf", "-lW", path)
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        yield "no full RELRO"
    stack = re.search(r"GNU_STACK .*", segments)
    if stack is None or "E" in stack.group().split()[6]:
        yield "an executable stack"
    if "TEXTREL" in dynamic:
        yield "relocations in its code"
    beside = name == "librung_cublas.so"  # its RUNPATH finds librung in its own folder
    if "(RPATH)" in dynamic or (not beside and "(RUNPATH)" in dynamic):
        yield "an RPATH"
    if "__stack_chk_fail" not in read("nm", "-D", "--undefined-only", path):
        yield "no stack protector"
    with open(path, "rb") as file:
        contents = file.read()
    for folder in (source, build):
        if folder.encode() + b"/" in contents:
            yield f"the name of {folder}"

    allowed = ALLOWED.get(name)
    if allowed is None:
        return
    major, minor = version.split(".")[:2]  # as the package's version file promises: SameMinorVersion
    if f"soname: [{name}.{major}.{minor}]" not in dynamic:
        yield f"a SONAME that is not {name}.{major}.{minor}"
    symbols = [line.split(maxsplit=2)[2]
               for line in read("nm", "-DC", "--defined-only", path).splitlines()]
    if len(symbols) < 8:
        yield "hardly any symbols"
    for symbol in symbols:
        if not re.fullmatch(allowed, symbol):
            yield f"the symbol {symbol}"


def main(source, build, version, *files):
    found = [f"{path} has {problem}" for path in files
             for problem in problems(path, source, build, version)]
    print("\n".join(found) or f"{len(files)} files are as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
