#pragma once
// `rung explain` for a Metal file of the user's.

#include <optional>

#include "command.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/kernel_file/adapter.hpp"
#include "tools/report/output_file.hpp"

namespace rung {

/// Precedes every explanation of a Metal kernel.
inline constexpr const char* metal_rates =
    "Apple publishes neither the rates of its GPUs' caches and threadgroup memory nor their "
    "latencies: "
    "times and causes below use an NVIDIA multiprocessor's in their place, and were not compared "
    "with an "
    "Apple GPU.";

/// Dispatches the kernel once on the virtual GPU, says which hazards it has, and explains it. Hazards
/// are exit_wrong. Throws as with_kernel_file() expects.
ExitCode explain_metal_file(const KernelFile& file, const ProgramSize& size,
                            const analysis::ExplainOptions& options,
                            const std::optional<OutputFile>& output,
                            const std::optional<OutputFile>& page);

}  // namespace rung
