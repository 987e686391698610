#pragma once
// Which rung computes a problem, and on how many threads. The rules themselves are data, in tuned/.

#include <cstdint>
#include <type_traits>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cpu/rung.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A problem in the canonical form of core/problem.hpp; the orders are those of A and B in memory.
struct GemmShape {
  Dtype dtype;
  std::int64_t m, n, k;
  Order a, b;
};

struct GemmChoice {
  const char* id;  // as in the catalog
  const cpu::GemmRung* rung;
  int threads;
};

struct DotShape {
  Dtype dtype;
  std::int64_t n;
  bool unit_stride;  // of both vectors
  DotMode mode;
};

struct DotChoice {
  const char* id;
  const cpu::DotRung* rung;
  int threads;
};

/// threads: the most to use; 0 for the processors that this process may run on.
GemmChoice choose_gemm(const GemmShape& shape, int threads);
DotChoice choose_dot(const DotShape& shape, int threads);

/// The same for a call as the bench and verification pass it around.
GemmChoice choose_gemm(const GemmCall& call, int threads);
DotChoice choose_dot(const DotCall& call, DotMode mode, int threads);

/// The dtype that the kernels know a type of the public interface by.
template <class In>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<In, float>) return Dtype::f32;
  if constexpr (std::is_same_v<In, double>) return Dtype::f64;
  if constexpr (std::is_same_v<In, std::uint32_t>) return Dtype::i32;
  if constexpr (std::is_same_v<In, bfloat16>) return Dtype::bf16;
  if constexpr (std::is_same_v<In, float16>) return Dtype::f16;
}

}  // namespace rung
