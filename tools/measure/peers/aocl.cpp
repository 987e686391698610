// AOCL-BLAS, AMD's BLIS, with the LPGEMM addon for bf16 and int8.
// https://docs.amd.com/r/en-US/57404-AOCL-user-guide

#include <string>

#include "tools/measure/peers/blas_operand.hpp"
#include "tools/measure/peers/cblas_peer.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/peers/peer_library.hpp"

namespace rung {
namespace {

class Aocl final : public CblasPeer {
 public:
  explicit Aocl(const SharedLibrary& library)
      : CblasPeer("aocl", library),
        set_num_threads_(library.find<void(std::int64_t)>("bli_thread_set_num_threads")),
        bf16_gemm_(library.find<LowPrecision<bfloat16, float>>("aocl_gemm_bf16bf16f32of32")),
        s8_gemm_(library.find<LowPrecision<std::int8_t, std::int32_t>>("aocl_gemm_s8s8s32os32")) {
    if (const auto query = library.find<const char*()>("bli_info_get_version_str")) {
      version_ = query();  // "AOCL-BLAS 5.3.0 Build 20260507"
      constexpr std::string_view name = "AOCL-BLAS ";
      if (version_.starts_with(name)) version_ = version_.substr(name.size());
      version_ = version_.substr(0, version_.find(' '));
    }
    const auto query = library.find<int()>("bli_arch_query_id");
    const auto string = library.find<const char*(int)>("bli_arch_string");
    if (query != nullptr && string != nullptr) kernels_ = string(query());
  }

  std::string version() const override { return version_; }
  std::string kernels() const override { return kernels_; }

  using CblasPeer::bind;
  Bound bind(const GemmCall& call, int threads) const override {
    set_threads(threads);
    const bool is_one = call.batch == 1;
    if (is_one && call.dtype == Dtype::bf16 && has_kernel(bf16_gemm_)) {
      return bind_low_precision<bfloat16, float>(bf16_gemm_, call);
    }
    if (is_one && call.dtype == Dtype::i8 && has_kernel(s8_gemm_)) {
      return bind_low_precision<std::int8_t, std::uint32_t>(s8_gemm_, call);
    }
    return CblasPeer::bind(call, threads);
  }

 private:
  template <class In, class Sum>
  using LowPrecision = void(char order, char trans_a, char trans_b, std::int64_t m, std::int64_t n,
                            std::int64_t k, Sum alpha, const In* a, std::int64_t lda,
                            char format_of_a, const In* b, std::int64_t ldb, char format_of_b,
                            Sum beta, Sum* c, std::int64_t ldc, void* post_operations);

  /// True if the type is supported on this CPU. Otherwise the function stores nothing.
  template <class In, class Sum>
  static bool has_kernel(LowPrecision<In, Sum>* gemm) {
    if (gemm == nullptr) return false;
    const auto one = static_cast<In>(1);
    Sum sum = 0;
    gemm('r', 'n', 'n', 1, 1, 1, 1, &one, 1, 'n', &one, 1, 'n', 0, &sum, 1, nullptr);
    return sum == 1;
  }

  template <class In, class Out, class Sum>
  static Bound bind_low_precision(LowPrecision<In, Sum>* gemm, const GemmCall& call) {
    const auto g = call.typed<In, Out>();
    const BlasOperand a(call.a, g.m, g.k);
    const BlasOperand b(call.b, g.k, g.n);
    const BlasOperand c(call.c, g.m, g.n);
    const auto run = [=](std::int64_t calls) {
      for (std::int64_t i = 0; i < calls; ++i) {
        gemm('r', a.transposed ? 't' : 'n', b.transposed ? 't' : 'n', g.m, g.n, g.k,
             static_cast<Sum>(g.alpha), g.a.data, a.ld, 'n', g.b.data, b.ld, 'n',
             static_cast<Sum>(g.beta), reinterpret_cast<Sum*>(g.c.data), c.ld, nullptr);
      }
    };
    return {run, {}};
  }

  void set_threads(int threads) const override {
    if (set_num_threads_ != nullptr) set_num_threads_(threads);
  }

  void (*set_num_threads_)(std::int64_t);
  LowPrecision<bfloat16, float>* bf16_gemm_;
  LowPrecision<std::int8_t, std::int32_t>* s8_gemm_;
  std::string version_ = "unknown";
  std::string kernels_ = "unknown";
};

/// PyPI's libraries need an OpenMP library of their folder, but do not say where it is.
SharedLibrary open_after_openmp() {
  static const SharedLibrary openmp =
      open_peer_library("RUNG_AOCL", "libaocl_openmp.so", {"libomp.so.5"});
  return open_peer_library("RUNG_AOCL", "libaocl_blas.so", {"libblis-mt.so.5", "libblis-mt.so"});
}

}  // namespace

std::unique_ptr<Peer> open_aocl(std::string& why_not) {
  return open_cblas_peer<Aocl>(open_after_openmp(), why_not);
}

}  // namespace rung
