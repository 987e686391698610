#pragma once

#include "core/rung.hpp"

namespace rung::analysis {

/// f32, or bf16 for tensor-core rungs without f32.
Dtype usual_dtype(const RungInfo& rung);

}  // namespace rung::analysis
