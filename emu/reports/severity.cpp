#include "emu/reports/severity.hpp"

#include <algorithm>
#include <array>

#include "emu/reports/metal_kinds.hpp"
#include "vgpu/model/hazard.hpp"

namespace rung::emu {
namespace {

using vgpu::HazardKind;

struct Advice {
  HazardKind kind;
  std::string_view text;
};

constexpr std::array all_advice = {
    Advice{HazardKind::shared_race,
           "put a __syncthreads() between the two accesses, or a __syncwarp() within a warp"},
    Advice{HazardKind::global_race,
           "order the two accesses by a barrier in a block or by two launches, or use an atomic"},
    Advice{HazardKind::same_value,
           "let one thread write the value, unless the threads only set a flag"},
    Advice{HazardKind::divergent_barrier,
           "move the barrier out of the condition, and put only the work around it under the "
           "condition"},
    Advice{HazardKind::deadlock, "let all threads that a barrier waits for arrive at it"},
    Advice{HazardKind::out_of_bounds,
           "compare the index with the number of elements before the access, as in if (i < n)"},
    Advice{HazardKind::misaligned,
           "access the data by a type that their address is a multiple of, or align the pointer"},
    Advice{
        HazardKind::unaligned_vector,
        "access the data by a packed vector or by elements, or let rows begin at multiples of the "
        "vector's size"},
    Advice{HazardKind::uninitialised_read,
           "write the value first: by a copy that is long enough, cudaMemset, or a kernel with a "
           "barrier before this read"},
    Advice{HazardKind::read_only_write, "write to global memory, or copy by cudaMemcpyToSymbol"},
    Advice{HazardKind::bad_participant,
           "name exactly the lanes that come: take the mask by __ballot_sync before the branch, or "
           "move the instruction out of it"},
    Advice{HazardKind::missing_fence,
           "put fence.proxy.async between the write and the asynchronous access"},
    Advice{HazardKind::in_flight, "wait for the asynchronous operation first"},
    Advice{HazardKind::early_access,
           "call cudaGridDependencySynchronize() (griddepcontrol.wait) before the access"},
    Advice{HazardKind::barrier_misuse, "initialise the mbarrier with the number of its arrivals"},
    Advice{HazardKind::tensor_memory,
           "allocate a power of two of columns from 32 on, access only these, by the warp that "
           "reaches "
           "the lanes, and release them with tcgen05.dealloc"},
    Advice{HazardKind::descriptor,
           "give the descriptor the swizzle and the strides of the tile in shared memory"},
    Advice{HazardKind::instruction_limit,
           "look for a loop that does not end; --limit N allows longer kernels"},
    Advice{HazardKind::leak, "free the memory, with cudaFree for cudaMalloc"},
    Advice{HazardKind::host_access,
           "copy the data to the host with cudaMemcpy, or allocate them with cudaMallocManaged"},
    Advice{HazardKind::failed_call,
           "check what every CUDA call returns, and cudaGetLastError() after a launch; "
           "--allow-unchecked-errors accepts them"},
    Advice{HazardKind::unordered,
           "record an event after the first and let the second's stream wait for it "
           "(cudaEventRecord, cudaStreamWaitEvent), or use one stream"},
};

}  // namespace

const char* name(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "";
}

std::optional<Severity> severity_named(std::string_view text) {
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
    if (text == name(severity)) return severity;
  }
  return std::nullopt;
}

Severity severity_of(std::string_view kind, std::string_view message) {
  const auto is = [&](HazardKind other) { return kind == name(other); };
  if (is(HazardKind::leak) || is(HazardKind::same_value)) return Severity::note;
  if (is(HazardKind::early_access)) {
    const bool is_harmless = message.find("accesses these bytes in this run") != message.npos;
    return is_harmless ? Severity::note : Severity::warning;
  }
  const bool is_unused = message.find("only copied or not used") != message.npos;
  return is(HazardKind::uninitialised_read) && is_unused ? Severity::warning : Severity::error;
}

std::string_view advice_for(std::string_view kind) {
  if (kind == use_after_free) {
    return "free the memory after the last kernel that uses it, or allocate it again";
  }
  if (kind == host_pointer) {
    return "copy the data to memory of cudaMalloc and pass that pointer, or allocate by "
           "cudaMallocManaged";
  }
  if (kind == null_pointer) {
    return "pass a pointer that cudaMalloc has set, and check what cudaMalloc returns; or test the "
           "pointer before the access";
  }
  if (kind == over_release) {
    return "remove one release(), or retain() the object first; only objects of new…, alloc(), "
           "copy() and "
           "retain() are yours to release";
  }
  const auto found = std::find_if(all_advice.begin(), all_advice.end(),
                                  [&](const Advice& advice) { return kind == name(advice.kind); });
  return found == all_advice.end() ? std::string_view() : found->text;
}

}  // namespace rung::emu
