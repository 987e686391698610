#include "explain_head.hpp"

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "tools/report/table.hpp"

namespace rung {

void print_head(std::FILE* out, const RungInfo& rung) {
  fmt::print(out, "{}{}\n", wrap(fmt::format("{}: {}", rung.id, rung.idea), 0),
             wrap(fmt::format("bottleneck: {}", rung.bottleneck), 0));
}

Json explanation_head(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                      const std::string& device) {
  const bool is_gemm = rung.op == "gemm";
  return {{"rung", rung.id},
          {"idea", rung.idea},
          {"limit", rung.bottleneck},
          {"dtype", name(dtype)},
          {"m", is_gemm ? Json(size.m) : Json(nullptr)},
          {"n", size.n},
          {"k", is_gemm ? Json(size.k) : Json(nullptr)},
          {"device", device}};
}

}  // namespace rung
