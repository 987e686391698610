"""The host function of a candidate: its signature, and a program that calls it as a plan says."""

import re

from .candidate import CandidateError, code_of

_C_TYPES = {"float32": "float", "float64": "double", "float16": "__half", "bfloat16": "__nv_bfloat16", "int32": "int",
            "uint32": "unsigned", "int64": "long long", "int8": "signed char", "uint8": "unsigned char"}

# A plan has 64-bit words for each call: flags, skipped calls, the number of calls to reach, the sizes, and for each array its offset, bytes, and 1 with the bytes of
# an input after it. Flags: 1 the previous call's addresses, 2 by a graph, 4 the next call begins before this one's
# results are read. The results have four words for each call, and then each array with the bytes before it. Words:
# 1 if the call could not be captured, plus 2 if it has changed the state of the process; the bytes that the host
# could see; the device memory that is allocated; the streams, events and graphs that exist.
_HARNESS = r"""
#include <cfenv>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

@DECLARATION@

__global__ void rung_referee_call() {}

extern "C" unsigned __data_start[], _end[];
extern "C" int rung_emu_set_memory_rule(const void*, int);
extern "C" unsigned long long rung_emu_take_host_visible_bytes();
extern "C" unsigned long long rung_emu_live_objects();

namespace {
enum Rule { ordinary, read_only, without_value };
constexpr int array_count = @ARRAYS@, size_count = @SIZES@;

/// The values of an input stay in the plan: they are not in this process while the candidate runs.
struct Array { char* memory = nullptr; long long offset = 0, bytes = 0, is_input = 0, place = 0; };
struct Call {
  long long flags = 0, skips = 0, reaches = 0, sizes[size_count + 1] = {}, words[4] = {};
  std::vector<Array> arrays = std::vector<Array>(array_count);
  cudaStream_t stream = nullptr;
};

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "referee: %s\n", cudaGetErrorString(error));
  std::exit(66);
}
void must_read(void* to, long long bytes, FILE* file) {
  if (bytes > 0 && std::fread(to, 1, bytes, file) != size_t(bytes)) std::exit(65);
}
long long word(FILE* file) {
  long long value = 0;
  must_read(&value, sizeof value, file);
  return value;
}
void fill(const Array& a, FILE* plan, cudaStream_t stream) {
  if (a.offset + a.bytes == 0) return;
  rung_emu_set_memory_rule(a.memory, a.is_input != 0 ? ordinary : without_value);
  if (a.is_input == 0) return;
  if (a.offset > 0) must(cudaMemsetAsync(a.memory, 0xA5, a.offset, stream));
  std::vector<char> data(a.bytes);
  const long place = std::ftell(plan);
  std::fseek(plan, a.place, SEEK_SET);
  must_read(data.data(), a.bytes, plan);
  std::fseek(plan, place, SEEK_SET);
  if (a.bytes > 0) must(cudaMemcpyAsync(a.memory + a.offset, data.data(), a.bytes, cudaMemcpyHostToDevice, stream));
  must(cudaStreamSynchronize(stream));
  explicit_bzero(data.data(), data.size());
  rung_emu_set_memory_rule(a.memory, read_only);
}
/// A number that changes with what a call must leave as it is.
unsigned long long state(cudaStream_t stream) {
#ifdef __x86_64__
  unsigned long long made = __builtin_ia32_stmxcsr() & ~0x3Fu;  // without the flags of exceptions
#else
  unsigned long long made = std::fegetround();
#endif
  const auto add = [&](unsigned long long value) { made = made * 0x100000001B3ull + value; };
  for (cudaLimit limit : {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize,
                          cudaLimitPersistingL2CacheSize, cudaLimitMaxL2FetchGranularity}) {
    size_t value = 0;
    cudaDeviceGetLimit(&value, limit);
    add(value);
  }
  int device = 0;
  cudaFuncCache preferred = cudaFuncCachePreferNone;
  cudaGetDevice(&device);
  cudaDeviceGetCacheConfig(&preferred);
  add(device), add(preferred);
  cudaStreamAttrValue kept = {};
  cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &kept);
  add(kept.accessPolicyWindow.hitProp), add(kept.accessPolicyWindow.missProp);
  return made;
}
/// A stack of its own for the candidate, with no memory of the judge above it: a walk up the stack ends the process.
struct OwnStack {
  static constexpr size_t bytes = size_t{64} << 20, guard = size_t{1} << 20;
  char* const memory = static_cast<char*>(mmap(nullptr, bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ucontext_t judge, candidate;
  Call* current = nullptr;
  unsigned long long state_after = 0;  // switching back restores the rounding mode
} own_stack;
void call_candidate() {
  Call& c = *own_stack.current;
  auto& a = c.arrays;
  auto& sizes = c.sizes;
  const auto stream = c.stream;
  (void)a, (void)sizes, (void)stream;
  @CALL@
  own_stack.state_after = state(stream);
}
void call(Call& c) {
  if (own_stack.memory == MAP_FAILED || mprotect(own_stack.memory + OwnStack::guard, OwnStack::bytes, PROT_READ | PROT_WRITE) != 0)
    std::exit(67);
  own_stack.current = &c;
  getcontext(&own_stack.candidate);
  own_stack.candidate.uc_stack.ss_sp = own_stack.memory + OwnStack::guard;
  own_stack.candidate.uc_stack.ss_size = OwnStack::bytes;
  own_stack.candidate.uc_link = &own_stack.judge;
  makecontext(&own_stack.candidate, call_candidate, 0);
  swapcontext(&own_stack.judge, &own_stack.candidate);
}
/// Variables of the process that have grown by the same number in each of the last calls, as counters of calls do.
class CallCounters {
 public:
  void see() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const unsigned by = first_[i] - words_[i].value;
      Word& word = words_[i];
      word.seen = by != 0 && by == word.by ? word.seen + 1 : 0;
      word.by = by, word.value = first_[i];
    }
  }
  /// Sets them as if calls had been made that were not.
  void set(long long skips, long long reaches) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].seen < least_calls || is_pointer(i)) continue;
      const unsigned goal = static_cast<unsigned>(reaches) - words_[i].by;
      if (skips != 0) first_[i] += words_[i].by * static_cast<unsigned>(skips);
      if (reaches != 0 && static_cast<int>(goal - first_[i]) > 0) first_[i] = goal;
      words_[i].value = first_[i];
    }
  }

 private:
  struct Word { unsigned value = 0, by = 0, seen = 0; };
  static constexpr unsigned least_calls = 20;
  /// The upper half of an address of the heap or of a library begins so.
  bool is_pointer(std::size_t i) const {
    return i + 1 < words_.size() && first_[i + 1] >= 0x5500 && first_[i + 1] <= 0x7fff;
  }
  unsigned* const first_ = __data_start;
  std::vector<Word> words_ = std::vector<Word>(_end - __data_start);
};
bool replay(Call& c, FILE* plan) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  if (cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) return false;
  call(c);
  if (cudaStreamEndCapture(c.stream, &graph) != cudaSuccess || graph == nullptr) return (void)cudaGetLastError(), false;
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return false;
  for (const Array& each : c.arrays) fill(each, plan, c.stream);
  must(cudaGraphLaunch(exec, c.stream));
  return true;
}
/// Reads a call of the plan. Its arrays take the memory of those of the call before if they shall.
Call planned(FILE* plan, Call* before) {
  Call c;
  c.flags = word(plan), c.skips = word(plan), c.reaches = word(plan);
  for (int i = 0; i < size_count; ++i) c.sizes[i] = word(plan);
  for (int i = 0; i < array_count; ++i) {
    Array& a = c.arrays[i];
    a.offset = word(plan), a.bytes = word(plan), a.is_input = word(plan), a.place = std::ftell(plan);
    if (a.is_input != 0) std::fseek(plan, a.bytes, SEEK_CUR);
    if ((c.flags & 1) != 0 && before != nullptr) std::swap(a.memory, before->arrays[i].memory);
    if (a.memory == nullptr) must(cudaMalloc(&a.memory, a.offset + a.bytes > 0 ? a.offset + a.bytes : 1));
  }
  return c;
}
void start(Call& c, FILE* plan, cudaStream_t marks, CallCounters& counters) {
  if (c.skips != 0 || c.reaches != 0) counters.set(c.skips, c.reaches);
  for (const Array& each : c.arrays) fill(each, plan, c.stream);
  rung_referee_call<<<1, 1, 0, marks>>>();
  const auto before = state(c.stream);
  rung_emu_take_host_visible_bytes();
  const bool by_graph = (c.flags & 2) != 0;
  if (by_graph && !replay(c, plan)) c.words[0] = 1;
  if (!by_graph || c.words[0] == 1) call(c);
  must(cudaGetLastError());
  if (own_stack.state_after != before) c.words[0] += 2;
  c.words[1] = rung_emu_take_host_visible_bytes();
  counters.see();
}
void finish(Call& c, FILE* results) {
  size_t free = 0, total = 0;
  must(cudaStreamSynchronize(c.stream));
  must(cudaMemGetInfo(&free, &total));
  c.words[2] = total - free, c.words[3] = rung_emu_live_objects();
  std::fwrite(c.words, sizeof c.words, 1, results);
  for (Array& a : c.arrays) {
    std::vector<char> bytes(a.offset + a.bytes);
    if (!bytes.empty()) must(cudaMemcpyAsync(bytes.data(), a.memory, bytes.size(), cudaMemcpyDeviceToHost, c.stream));
    must(cudaStreamSynchronize(c.stream));
    std::fwrite(bytes.data(), 1, bytes.size(), results);
  }
  std::fflush(results);
}
void release(Call& c) {
  for (Array& each : c.arrays) must(cudaFree(each.memory)), each.memory = nullptr;
}
}  // namespace

int main(int argc, char** argv) {
  FILE* const plan = std::fopen(argv[1], "rb");
  FILE* const results = std::fopen(argv[2], "wb");
  if (argc != 3 || plan == nullptr || results == nullptr) return 64;
  cudaStream_t streams[2] = {}, marks = nullptr;
  if (@HAS_STREAM@)
    for (cudaStream_t& each : streams) must(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&marks, cudaStreamNonBlocking));
  std::vector<Call> calls;  // whose results are not read yet, or the last one
  CallCounters counters;
  long long left = word(plan);
  for (long long number = 0; number < left; ++number) {
    const bool is_open = !calls.empty() && (calls.back().flags & 4) != 0;
    Call c = planned(plan, calls.empty() ? nullptr : &calls.back());
    if (!is_open) {
      for (Call& each : calls) release(each);
      calls.clear();
    }
    c.stream = streams[number % 2];
    if (!@HAS_STREAM@) c.flags &= ~4;
    start(c, plan, marks, counters);
    calls.push_back(std::move(c));
    if ((calls.back().flags & 4) == 0)
      for (Call& each : calls) finish(each, results);
  }
  for (Call& each : calls) release(each);
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
    names : tuple of str
        The functions that the harness calls.
    """

    def __init__(self, candidate, task):
        is_c, kind, name, parameters = _definition(candidate, task)
        self.names = (name,)
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
