#include "backends/cpu/cpu.hpp"

#include <string_view>
#include <type_traits>
#include <utility>

#include "backends/rungs/cpu.hpp"
#include "backends/rungs/named_rung.hpp"
#include "core/dtype_traits.hpp"
#include "device/cpu/machine.hpp"

namespace rung {
namespace {

bool has(const cpu::GemmRung& rung, Dtype dtype) {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.function<In, Out>() != nullptr;
  });
}

bool has(const cpu::DotRung& rung, Dtype dtype) {
  if (!is_for_dot(dtype) || dtype == Dtype::i32) return false;
  return visit_dot(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (std::is_integral_v<In>) {
      return false;
    } else {
      return rung.function<In>() != nullptr;
    }
  });
}

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  std::string device() const override {
    return "cpu " + cpu::model() + " (" + std::string(cpu::name(cpu::machine().isa)) + ")";
  }

  std::int64_t cache_bytes() const override { return cpu::machine().caches.l3; }

  std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const override {
    const auto* gemm = find_rung(cpu::gemm_rungs, rung.id);
    const auto* dot = find_rung(cpu::dot_rungs, rung.id);
    if (gemm == nullptr && dot == nullptr) return "a " + rung.backend + " rung";
    if (!(gemm != nullptr ? has(*gemm, dtype) : has(*dot, dtype))) return no_dtype(dtype);
    return std::nullopt;
  }

  std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const override {
    if (find_rung(cpu::gemm_rungs, rung.id) == nullptr) return "not a gemm rung";
    if (const auto reason = why_not_kind(rung, call)) return reason;
    return why_not(rung, call.dtype);
  }

  std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const override {
    const cpu::DotRung* found = find_rung(cpu::dot_rungs, rung.id);
    if (found == nullptr) return "not a dot rung";
    if (found->unit_stride && (call.incx != 1 || call.incy != 1)) return "needs unit strides";
    return why_not(rung, call.dtype);
  }

  BoundCall bind(const RungInfo& rung, const GemmCall& call, int threads) const override {
    const cpu::GemmRung* found = find_rung(cpu::gemm_rungs, rung.id);
    return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> BoundCall {
      return [function = found->template function<In, Out>(), problem = call.typed<In, Out>(),
              threads](std::int64_t calls) {
        for (std::int64_t i = 0; i < calls; ++i) function(problem, threads);
      };
    });
  }

  BoundCall bind(const RungInfo& rung, const DotCall& call, int threads,
                 void* result) const override {
    const cpu::DotRung* found = find_rung(cpu::dot_rungs, rung.id);
    return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> BoundCall {
      if constexpr (std::is_integral_v<In>) {
        return {};
      } else {
        return [function = found->template function<In>(), problem = call.typed<In>(), threads,
                sum = static_cast<Out*>(result)](std::int64_t calls) {
          for (std::int64_t i = 0; i < calls; ++i) *sum = function(problem, threads);
        };
      }
    });
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace rung
