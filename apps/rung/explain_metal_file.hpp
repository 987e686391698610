#pragma once
// `rung explain` for a Metal file of the user's.

#include <optional>

#include "analysis/explanation.hpp"
#include "command.hpp"
#include "kernel_file/adapter.hpp"
#include "report/output_file.hpp"

namespace rung {

/// Dispatches the kernel once on the virtual GPU, says which hazards it has, and explains it. Hazards
/// are exit_wrong. Throws as with_kernel_file() expects.
ExitCode explain_metal_file(const KernelFile& file, const ProgramSize& size,
                            const analysis::ExplainOptions& options,
                            const std::optional<OutputFile>& output,
                            const std::optional<OutputFile>& page);

}  // namespace rung
