#pragma once
// The views of rung layout: what its arguments ask for.

#include <string>

#include "layout_arguments.hpp"
#include "tools/layout/view.hpp"

namespace rung {

/// Throws UsageError. `code` becomes exit_wrong if a descriptor does not fit its tile.
layout::View layout_view(const LayoutArguments& given, ExitCode& code);

// layout_view() calls the one that the instruction needs. `form`: its shape.
layout::View wgmma_view(const LayoutArguments& given, const std::string& form, ExitCode& code);
layout::View tcgen05_view(const LayoutArguments& given, const std::string& form, ExitCode& code);
/// A matrix in registers or in tensor memory.
layout::View view_of_fragment(vgpu::layout::Fragment fragment);
std::string box_text(const vgpu::TensorMap& box);

}  // namespace rung
