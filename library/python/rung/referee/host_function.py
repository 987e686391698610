"""The host function of a candidate: its signature, and a program that calls it as a plan says."""

import re

from .candidate import CandidateError, code_of

_C_TYPES = {"float32": "float", "float64": "double", "float16": "__half", "bfloat16": "__nv_bfloat16", "int32": "int",
            "uint32": "unsigned", "int64": "long long", "int8": "signed char", "uint8": "unsigned char"}

# A plan has 64-bit words for each call: flags (1: the previous call's addresses, 2: by a graph), the sizes, and for each
# array its offset, bytes, and 1 with the bytes of an input after it. The results have a word for each call, 1 if it
# could not be captured plus twice the bytes that it has copied to the host, and then each array with the bytes before it.
_HARNESS = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

@DECLARATION@

__global__ void rung_referee_call() {}

namespace {
struct Array { char* memory = nullptr; long long offset = 0, bytes = 0, is_input = 0; std::vector<char> data; };
constexpr int array_count = @ARRAYS@, size_count = @SIZES@;

bool is_inside = false;  // of the candidate's function
long long host_bytes = 0;

void count(const void* to, std::size_t bytes, cudaMemcpyKind kind) {
  cudaPointerAttributes target{};
  if (!is_inside || kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) return;
  if (kind == cudaMemcpyDeviceToHost || cudaPointerGetAttributes(&target, to) != cudaSuccess ||
      target.type == cudaMemoryTypeUnregistered || target.type == cudaMemoryTypeHost)
    host_bytes += bytes;
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "referee: %s\n", cudaGetErrorString(error));
  std::exit(66);
}
long long word(FILE* file) {
  long long value = 0;
  if (std::fread(&value, sizeof value, 1, file) != 1) std::exit(65);
  return value;
}
// Memory of cudaMalloc reads as zero here, which may be the right result.
void fill(Array& a, cudaStream_t stream) {
  if (a.is_input == 0) {
    if (a.offset + a.bytes > 0) must(cudaMemsetAsync(a.memory, 0xFF, a.offset + a.bytes, stream));
    return;
  }
  if (a.offset > 0) must(cudaMemsetAsync(a.memory, 0xA5, a.offset, stream));
  if (a.bytes > 0) must(cudaMemcpyAsync(a.memory + a.offset, a.data.data(), a.bytes, cudaMemcpyHostToDevice, stream));
}
void call(std::vector<Array>& a, const long long* sizes, cudaStream_t stream) {
  (void)sizes, (void)stream;
  is_inside = true;
  @CALL@
  is_inside = false;
}
bool replay(std::vector<Array>& a, const long long* sizes, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) return false;
  call(a, sizes, stream);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || graph == nullptr) return (void)cudaGetLastError(), false;
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return false;
  for (Array& each : a) fill(each, stream);
  must(cudaGraphLaunch(exec, stream));
  return true;
}
}  // namespace

extern "C" cudaError_t __real_cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
extern "C" cudaError_t __real_cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
extern "C" cudaError_t __wrap_cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  count(to, bytes, kind);
  return __real_cudaMemcpy(to, from, bytes, kind);
}
extern "C" cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  count(to, bytes, kind);
  return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
}

int main(int argc, char** argv) {
  FILE* const plan = std::fopen(argv[1], "rb");
  FILE* const results = std::fopen(argv[2], "wb");
  if (argc != 3 || plan == nullptr || results == nullptr) return 64;
  cudaStream_t stream = nullptr, marks = nullptr;
  if (@HAS_STREAM@) must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&marks, cudaStreamNonBlocking));
  std::vector<Array> arrays(array_count);
  for (long long left = word(plan); left > 0; --left) {
    const long long flags = word(plan);
    long long sizes[size_count + 1];
    for (int i = 0; i < size_count; ++i) sizes[i] = word(plan);
    std::vector<Array> old = std::move(arrays);
    arrays.assign(array_count, {});
    for (int i = 0; i < array_count; ++i) {
      Array& a = arrays[i];
      a.offset = word(plan), a.bytes = word(plan), a.is_input = word(plan);
      a.data.resize(a.bytes);
      if (a.is_input != 0 && a.bytes > 0 && std::fread(a.data.data(), 1, a.bytes, plan) != size_t(a.bytes)) return 65;
      if ((flags & 1) != 0) std::swap(a.memory, old[i].memory);
      if (a.memory == nullptr) must(cudaMalloc(&a.memory, a.offset + a.bytes > 0 ? a.offset + a.bytes : 1));
      if ((flags & 2) == 0) fill(a, stream);
    }
    for (Array& each : old) must(cudaFree(each.memory));
    rung_referee_call<<<1, 1, 0, marks>>>();
    long long status = 0;
    host_bytes = 0;
    if ((flags & 2) != 0 && !replay(arrays, sizes, stream)) {
      status = 1;
      for (Array& each : arrays) fill(each, stream);
    }
    if ((flags & 2) == 0 || status == 1) call(arrays, sizes, stream);
    must(cudaGetLastError());
    status += 2 * host_bytes;
    std::fwrite(&status, sizeof status, 1, results);
    for (Array& a : arrays) {
      std::vector<char> bytes(a.offset + a.bytes);
      if (!bytes.empty()) must(cudaMemcpyAsync(bytes.data(), a.memory, bytes.size(), cudaMemcpyDeviceToHost, stream));
      must(cudaStreamSynchronize(stream));
      std::fwrite(bytes.data(), 1, bytes.size(), results);
    }
    std::fflush(results);
  }
  for (Array& each : arrays) must(cudaFree(each.memory));
  return 0;
}
"""


class HostFunction:
    """The declaration of a candidate's function, matched with a task.

    Attributes
    ----------
    harness : str
        The program, as CUDA C++.
    has_stream : bool
    """

    def __init__(self, candidate, task):
        is_c, kind, name, parameters = _definition(candidate, task)
        values = _values(parameters, task)
        self.has_stream = "stream" in values
        prefix = 'extern "C" ' if is_c else ""
        declaration = f"{prefix}{kind} {name}({', '.join(parameters)});"
        fields = {"DECLARATION": declaration, "ARRAYS": str(len(task.arrays)), "SIZES": str(len(task.operation.sizes)),
                  "CALL": f"{name}({', '.join(values)});", "HAS_STREAM": str(self.has_stream).lower()}
        self.harness = re.sub(r"@(\w+)@", lambda name: fields[name[1]], _HARNESS)


def _definition(candidate, task):
    """(extern "C", result type, name, parameters) of the function that a task calls."""
    code = code_of(candidate.text)
    for name in (task.function, "solution", task.operation.name):
        pattern = r"((?:extern\s*\"\"\s*)?)(\w[\w\s]*?)\b" + re.escape(name) + r"\s*\(([^()]*)\)\s*\{"
        for found in re.finditer(pattern, code):
            if not re.search("__global__|__device__", found[2]):
                is_c = bool(found[1]) or re.search(r"extern\s*\"\"\s*\{", code[:found.start(2)]) is not None
                return is_c, found[2].split()[-1], name, [each.strip() for each in found[3].split(",") if each.strip()]
    raise CandidateError(f"{candidate.name}: has neither a line '// referee: launch …' nor a function {task.function}(…)")


def _values(parameters, task):
    """C++ expressions of the arguments: by the parameters' names, or by position if one name is unknown."""
    names = [re.sub(r"\[\s*\]$", "", each).rpartition(" ")[2].lstrip("*&").lower() for each in parameters]
    streams = ["cudaStream_t" in each or "CUstream" in each for each in parameters]
    pointers = [("*" in each or "[" in each) and not is_stream for each, is_stream in zip(parameters, streams)]
    arrays, sizes = [each.name.lower() for each in task.arrays], [each.lower() for each in task.operation.sizes]
    is_named = all(is_stream or name in (arrays if pointer else sizes)
                   for name, pointer, is_stream in zip(names, pointers, streams))
    if not is_named and (sum(pointers) != len(arrays) or len(names) - sum(pointers) - sum(streams) != len(sizes)):
        raise CandidateError(f"{task.function}({', '.join(parameters)}): expected the arrays {', '.join(arrays)} and the"
                             f" sizes {', '.join(sizes)}, by these names or in this order")
    values, next_array, next_size = [], 0, 0
    for parameter, name, pointer, is_stream in zip(parameters, names, pointers, streams):
        if is_stream:
            values.append("stream")
        elif pointer:
            index = arrays.index(name) if is_named else next_array
            next_array += 1
            kind = re.sub(r"\b(?:__restrict__|restrict|__restrict)\b", "", parameter)
            kind = re.sub(r"\*[^*]*$", "*", kind) if "*" in kind else _C_TYPES[task.arrays[index].dtype] + "*"
            values.append(f"reinterpret_cast<{kind.strip()}>(a[{index}].memory + a[{index}].offset)")
        else:
            index = sizes.index(name) if is_named else next_size
            next_size += 1
            kind = parameter.rpartition(" ")[0] or "int"
            values.append(f"static_cast<{kind}>(sizes[{index}])")
    return values
