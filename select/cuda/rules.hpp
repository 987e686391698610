#pragma once
// Selection rules for GPUs: the form of the tables in tables.hpp.

#include <cstdint>
#include <optional>

#include "backends/rungs/cuda.hpp"
#include "device/cuda/cost/gemm_shape.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "select/rules.hpp"

namespace rung {

inline constexpr int any_arch = 9999;

struct CudaGemmRule {
  Dtypes dtypes = Dtypes::all();
  ComputeMode compute_mode = ComputeMode::standard;
  int min_arch = 0, max_arch = any_arch;     // compute capability times ten
  std::int64_t min_m = 0, max_m = any_size;  // inclusive, for the canonical form: C is row-major
  std::int64_t min_n = 0, max_n = any_size;
  std::int64_t min_k = 0, max_k = any_size;
  std::int64_t max_short = any_size;    // of the smaller one of m and n
  double max_work = any_work;           // m * n * k
  std::optional<Order> a = {}, b = {};  // storage order of A and B; empty: any
  /// The required alignment, in bytes, of the address and the leading dimension of every operand;
  /// at most 128.
  std::int64_t alignment = 1;
  std::int64_t max_alignment = 128;  // inclusive, of A and B: the largest power of two, at most 128
  bool (*pays)(const CudaGemmShape&) =
      nullptr;  // the kernel's predicate; null: no further condition
  cuda::GemmRungIndex use;
};

/// A rung that may be faster than another one for the same products. Both have a wave model, which decides.
struct CudaRival {
  Dtypes dtypes;
  cuda::GemmRungIndex of, use;
};

/// The kernel for a batch in one launch. If no rule fits, the products are launched one by one.
struct CudaBatchRule {
  Dtypes dtypes = Dtypes::all();
  int min_arch = 0, max_arch = any_arch;
  std::int64_t min_short = 0;  // of the smaller one of m and n
  double max_work = any_work;  // m * n * k of a product; any if the matrices are at pointers
  /// TMA reads the matrices, which are at multiples of a stride: strides, addresses and leading dimensions of
  /// A and B must be multiples of 16 bytes.
  bool is_mapped = false;
  bool is_k_major = false;  // A and B
  /// As is_mapped, but operands that TMA cannot read by rows are packed first.
  bool is_packed = false;
  bool (*pays)(std::int64_t m, std::int64_t n) = nullptr;  // null: no further condition
  cuda::GemmRungIndex use;
};

/// The kernel for ragged groups.
struct CudaGroupRule {
  Dtypes dtypes = Dtypes::all();
  int min_arch = 0, max_arch = any_arch;
  std::int64_t max_rows = any_size;  // mean rows of a group's C
  /// True if its sums have the bits that the single products have in mode batch_invariant.
  bool is_invariant = false;
  cuda::GemmRungIndex use;
  int tile = 0;  // of a kernel for batches; kernels for groups choose their own
};

/// True if a rule is for the type and the GPU.
template <class Rule>
constexpr bool admits(const Rule& rule, Dtype dtype, int arch) {
  return rule.dtypes.has(dtype) && rule.min_arch <= arch && arch <= rule.max_arch;
}

struct CudaDotRule {
  Dtypes dtypes = Dtypes::all();
  DotMode mode = DotMode::deterministic;  // no rule is specific to fast: see select.cpp
  int min_arch = 0, max_arch = any_arch;
  std::int64_t max_n = any_size;
  cuda::DotRungIndex use;
};

}  // namespace rung
