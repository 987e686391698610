#pragma once
// The conditions of a selection rule for GPUs. A table of rules is read from the top; the first
// match decides.

#include <cstdint>
#include <optional>

#include "backends/cuda/rungs.hpp"
#include "library/rules.hpp"

namespace rung {

inline constexpr int any_arch = 9999;

struct CudaGemmShape;

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
  bool (*pays)(const CudaGemmShape&) = nullptr;  // a model to ask; null: no further condition
  cuda::GemmRungIndex use;
};

/// A rung for products of another one, in tiles of its own; both have a wave model.
struct CudaRival {
  Dtypes dtypes;
  cuda::GemmRungIndex of, use;
};

/// Which kernel computes a batch in one launch. Where none fits, its products are launched one by
/// one.
struct CudaBatchRule {
  Dtypes dtypes = Dtypes::all();
  int min_arch = 0, max_arch = any_arch;
  std::int64_t min_short = 0;  // of the smaller one of m and n
  double max_work = any_work;  // m * n * k of a product; any if the matrices are at pointers
  /// The matrices are at multiples of a stride. TMA reads these, if strides, addresses and leading
  /// dimensions of A and B are multiples of 16 bytes.
  bool is_mapped = false;
  bool is_k_major = false;  // A and B
  /// As is_mapped, but operands that TMA cannot read, or not by rows, are packed first.
  bool is_packed = false;
  bool (*pays)(std::int64_t m, std::int64_t n) = nullptr;  // null: no further condition
  cuda::GemmRungIndex use;
};

/// Which kernel computes ragged groups.
struct CudaGroupRule {
  Dtypes dtypes = Dtypes::all();
  int min_arch = 0, max_arch = any_arch;
  std::int64_t max_rows = any_size;  // of a group's C, in the mean
  /// Whether its sums have the bits of the products by themselves in mode batch_invariant.
  bool is_invariant = false;
  cuda::GemmRungIndex use;
  int tile = 0;  // of a kernel for batches; one for groups knows its fastest
};

struct CudaDotRule {
  Dtypes dtypes = Dtypes::all();
  DotMode mode = DotMode::deterministic;  // none is specific to fast: see cuda/select.cpp
  int min_arch = 0, max_arch = any_arch;
  std::int64_t max_n = any_size;
  cuda::DotRungIndex use;
};

}  // namespace rung
