#include "emu/reports/remedy.hpp"

#include <fmt/format.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "emu/reports/metal_words.hpp"
#include "emu/reports/severity.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

using vgpu::HazardKind;

bool is(const Report& report, HazardKind kind) { return report.kind == name(kind); }

std::string text_of(const Json& party, const char* key) {
  return party.is_object() && party.contains(key) && party.at(key).is_string()
             ? party.at(key).get<std::string>()
             : "";
}

int line_of(const Json& party) { return party.value("line", 0); }

/// The call that synchronizes a block, in the language of the source.
std::string barrier_of(const Report& report) {
  return report.where().file.ends_with(".metal") ? "threadgroup_barrier(mem_flags::mem_threadgroup)"
                                                 : "__syncthreads()";
}

bool is_one_block(const Report& report) {
  return report.first.contains("block") && report.other.contains("block") &&
         report.first.at("block") == report.other.at("block");
}

/// True for different threads of one warp, if rows of the block are whole warps.
bool is_one_warp(const Report& report) {
  if (!report.first.contains("thread") || !report.other.contains("thread")) return false;
  const Json &a = report.first.at("thread"), &b = report.other.at("thread");
  const auto x = [](const Json& thread) { return thread.at(0).get<unsigned>(); };
  return a != b && x(a) / 32 == x(b) / 32 && a.at(1) == b.at(1) && a.at(2) == b.at(2);
}

/// The call that synchronizes a warp.
std::string warp_barrier_of(const Report& report) {
  return report.where().file.ends_with(".metal") ? "simdgroup_barrier(mem_flags::mem_threadgroup)"
                                                 : "__syncwarp()";
}

/// Two accesses that nothing orders.
std::string order(const Report& report) {
  const bool is_asynchronous = report.message.find("asynchronous") != std::string::npos;
  if (report.other.is_null() || is_asynchronous) return "";
  // No barrier of a block orders an atomic, which other blocks do too.
  const bool is_atomic =
      text_of(report.first, "access") == "atomic" || text_of(report.other, "access") == "atomic";
  if (is_atomic && is(report, HazardKind::global_race)) {
    return "make the plain access an atomic, too, or move it to an earlier launch, such as a "
           "cudaMemset";
  }
  if (!is_one_block(report)) {
    return "blocks run in any order: use an atomic, give each block its own element, or move one "
           "of the accesses to a later launch";
  }
  std::string before = text_of(report.first, "source"), after = text_of(report.other, "source");
  const bool both_write =
      text_of(report.first, "access") == "write" && text_of(report.other, "access") == "write";
  if (both_write) return "give each thread its own element, or use an atomic";
  const bool in_warp = is_one_warp(report);
  const std::string barrier = in_warp
                                  ? fmt::format("{} (or {}, if only threads of one warp come here)",
                                                barrier_of(report), warp_barrier_of(report))
                                  : barrier_of(report);
  if (before == after || before.empty() || after.empty()) {
    return fmt::format("put {} between the two accesses; in a loop, at the end of its body",
                       barrier);
  }
  if (line_of(report.first) > line_of(report.other)) std::swap(before, after);
  return fmt::format("put {} between {} and {}; in a loop, also after {}", barrier, before, after,
                     after);
}

/// The streams that the message names: "stream a", "a graph in stream b".
std::vector<std::string> streams_of(const std::string& message) {
  static const std::regex& named =
      *new std::regex(R"(\((?:[^(),]+, )*((?:a graph in )?(?:another )?(?:stream|the)[^(),]*)\) )");
  std::vector<std::string> streams;
  for (std::sregex_iterator match(message.begin(), message.end(), named), end; match != end;
       ++match) {
    streams.push_back((*match)[1]);
  }
  return streams;
}

/// Two operations of a Metal program, whose message names encoders (emu/metal_cpp/reports.cpp).
std::string order_passes(const Report& report) {
  static const std::regex& named = *new std::regex(R"(\((?:[^(),]+, )?([^()]* encoder[^()]*)\) )");
  std::vector<std::string> encoders;
  const std::string& message = report.message;
  for (std::sregex_iterator match(message.begin(), message.end(), named), end; match != end;
       ++match) {
    encoders.push_back((*match)[1]);
  }
  if (encoders.size() < 2) {
    return "let the CPU wait first: waitUntilCompleted() of the command buffer, or its completed "
           "handler";
  }
  if (encoders[0] == encoders[1] && encoders[0].starts_with("concurrent")) {
    return "call memoryBarrier(MTL::BarrierScopeBuffers) between the two dispatches, or use a "
           "serial "
           "encoder";
  }
  return fmt::format(
      "let {} wait for an MTL::Fence that {} updates (between command queues an MTL::Event), or "
      "make the "
      "resource with MTL::ResourceHazardTrackingModeTracked",
      encoders[1], encoders[0]);
}

/// Two operations of the program that nothing orders.
std::string order_operations(const Report& report) {
  if (report.message.find(" encoder") != report.message.npos) return order_passes(report);
  const std::vector<std::string> streams = streams_of(report.message);
  const bool by_host = report.message.find("; the host ") != report.message.npos ||
                       (streams.size() == 2 && streams[1] == "the host");
  if (by_host) {
    return "let the host wait first: cudaStreamSynchronize, cudaEventSynchronize or "
           "cudaDeviceSynchronize";
  }
  if (streams.size() != 2) return std::string(advice_for(report.kind));
  if (streams[0] == streams[1] && streams[0].starts_with("a graph")) {
    return "add an edge between the two nodes (cudaGraphAddDependencies), or capture an event "
           "between their streams; after a programmatic edge, call cudaGridDependencySynchronize() "
           "before the access";
  }
  if (streams[0] == streams[1]) {
    return "call cudaGridDependencySynchronize() (griddepcontrol.wait) before the access, and in "
           "every kernel between the two; memory of a parameter that is const and __restrict__ may "
           "be read before the call (ld.global.nc)";
  }
  return fmt::format(
      "let {} wait for an event that {} records after the first operation (cudaEventRecord, "
      "cudaStreamWaitEvent), or use one stream",
      streams[1], streams[0]);
}

/// The correction of a call, by the reason of its failure.
std::string correct_call(const Report& report) {
  struct Remedy {
    const char* reason;
    const char* text;
  };
  static constexpr Remedy all[] = {
      {"bytes of dynamic shared memory: at most",
       "allow it before the launch: cudaFuncSetAttribute(kernel, "
       "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); or use a smaller tile"},
      {" threads: 1 to ", "launch smaller blocks, and more of them"},
      {": a grid of 0x", "round the number of blocks up: (n + threads - 1) / threads"},
      {": a grid of ", "launch fewer blocks that loop over the data, or count blocks by x"},
      {"double free: ", "free the memory once, and do not copy an object that frees it"},
      {"are not all in one allocation", "copy no more bytes than both sides have: n * sizeof(T)"},
      {" bytes at offset ", "copy no more bytes than the variable has: n * sizeof(T)"},
      {"'s pitch of ", "pass the distance of rows in bytes, as cudaMallocPitch returns it"}};
  for (const Remedy& known : all) {
    if (report.message.find(known.reason) == report.message.npos) continue;
    return std::string(known.text) + "; and check what CUDA calls return";
  }
  return std::string(advice_for(report.kind));
}

/// True if the access misses the memory by 2 GiB or more, as by an index that has overflowed.
bool is_far_outside(const std::string& message) {
  static const std::regex& distance = *new std::regex("([0-9]{10,}) bytes (before|past)");
  std::smatch match;
  return std::regex_search(message, match, distance) && std::stoull(match[1]) >= std::uint64_t{1}
                                                                                     << 31;
}

std::string cuda_remedy(const Report& report) {
  if (is(report, HazardKind::shared_race) || is(report, HazardKind::global_race)) {
    return order(report);
  }
  if (is(report, HazardKind::unordered)) return order_operations(report);
  if (is(report, HazardKind::failed_call)) return correct_call(report);
  if (is(report, HazardKind::out_of_bounds) && is_far_outside(report.message)) {
    return "compute the index in 64 bits, as in static_cast<size_t>(row) * width + column: in 32 "
           "bits it overflows";
  }
  if (is(report, HazardKind::uninitialised_read) &&
      report.message.find("of them have exited") != report.message.npos) {
    return "let threads beyond the end store a neutral value, such as 0, and return only after the "
           "last barrier";
  }
  if (report.message.find("reads its condition, which has no default") != report.message.npos) {
    return "call cudaGraphSetConditional in a kernel that the node depends on, or give "
           "cudaGraphConditionalHandleCreate a value and cudaGraphCondAssignDefault";
  }
  if (report.message.find("'the launch is cooperative") != report.message.npos) {
    return "launch the kernel with cudaLaunchCooperativeKernel: only then are all blocks on the "
           "GPU "
           "at the same time";
  }
  if (report.message.find("nested too deeply") != report.message.npos) {
    return "end the recursion earlier, or write it as a loop with an array as its stack; on a GPU, "
           "cudaDeviceSetLimit(cudaLimitStackSize, bytes) allows more";
  }
  if (report.message.find("since the last wgmma.fence") != report.message.npos) {
    return "put wgmma.fence between the write of the register and the wgmma; in C++, name the "
           "accumulators as operands of an asm volatile after the fence, so that the compiler does "
           "not move their writes";
  }
  return std::string(advice_for(report.kind));
}

/// The remedy where Metal has one of its own; otherwise empty.
std::string metal_remedy(const Report& report) {
  if (is(report, HazardKind::leak)) return "release() it, or hold it in an NS::SharedPtr";
  if (is(report, HazardKind::uninitialised_read)) {
    return "write the value first: by a copy, fillBuffer, or a kernel with a barrier before this "
           "read";
  }
  if (is(report, HazardKind::read_only_write)) return "write to device memory";
  return report.kind == use_after_free
             ? "release the buffer after the last command buffer that uses it"
             : "";
}

bool is_metal(const Report& report) {
  const std::string name = text_of(report.first, "access");
  return report.where().file.ends_with(".metal") || name.starts_with("MTL::") ||
         name.starts_with("NS::");
}

}  // namespace

std::string remedy(const Report& report) {
  if (!is_metal(report)) return cuda_remedy(report);
  const std::string own = metal_remedy(report);
  return own.empty() ? in_metal_words(cuda_remedy(report)) : own;
}

}  // namespace rung::emu
