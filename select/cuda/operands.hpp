#pragma once
// The alignment of operands, how kernels copy them to shared memory, and packing for kernels without tensor maps:
// copies in device memory that suit the kernels' fastest copies. Packing pays off if the product takes much
// longer.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/rungs/kernel_name.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// How the kernels of a rung copy operands.
enum class Copies {
  fast,          // GemmRung::fast_copies
  both_k_major,  // both operands are K-major and aligned
  b_k_major,     // only B is K-major; both are aligned
  slow           // all other operands
};

/// Operands whose rows begin at odd multiples of 16 bytes: 128 bytes of such a row are in five sectors of L2, not
/// four.
struct OddRows {
  bool a = false, b = false;
};

/// The bits that are set in the address or the leading dimension of a matrix, in bytes.
template <class Pointer>
std::uintptr_t row_bits(const AnyMatrix<Pointer>& matrix, std::size_t element_bytes) {
  // One of the two strides is 1: their product is the leading dimension.
  return reinterpret_cast<std::uintptr_t>(matrix.data) |
         static_cast<std::uintptr_t>(matrix.row_stride * matrix.col_stride) * element_bytes;
}

/// The largest power of two, at most 128, that divides all values whose bits are or-ed here.
inline std::int64_t largest_divisor(std::uintptr_t bits) {
  bits |= 128u;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

inline std::int64_t row_alignment(const AnyMatrix<const void*>& operand, Dtype dtype) {
  return largest_divisor(row_bits(operand, input_bytes(dtype)));
}

/// Only operands that TMA reads in place can have odd rows: copies have rows of whole lines.
inline OddRows odd_rows_of(const GemmCall& call) {
  const auto is_odd = [&](const AnyMatrix<const void*>& operand, bool is_k_major) {
    return row_alignment(operand, call.dtype) == 16 && (is_k_major || !is_k_major_only(call.dtype));
  };
  return {is_odd(call.a, call.a.col_stride == 1), is_odd(call.b, call.b.row_stride == 1)};
}

/// True if GemmRung::fast_copies accepts a problem.
bool has_fast_copies(const GemmRung& rung, const GemmCall& call);

Copies copies_of(const GemmRung& rung, const GemmCall& call);

/// How to pack A and B.
struct Packing {
  Pack a = Pack::no, b = Pack::no;

  constexpr int copies() const { return (a != Pack::no) + (b != Pack::no); }
};

/// The packing with the fewest copies that the rung's fastest copies accept. Empty if they accept the operands in
/// place, or with no packing, or if the type cannot be packed.
std::optional<Packing> packing_for_fast_copies(const GemmRung& rung, const GemmCall& call);

/// Bytes that the copies read and write.
double packing_bytes(const Packing& packing, const GemmCall& call);

/// The matrices that a launch with that configuration packs, without boxes; empty if it does not pack them.
TensorMapSpec packed_a(const GemmConfig& config, const GemmCall& call);
TensorMapSpec packed_b(const GemmConfig& config, const GemmCall& call);

/// The call with the operands that the configuration packs replaced by their copies.
GemmCall with_copies(const GemmConfig& config, GemmCall call, const TensorMapSpec& a,
                     const TensorMapSpec& b);

}  // namespace rung::cuda
