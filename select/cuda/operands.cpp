#include "select/cuda/operands.hpp"

#include "core/dtype.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

/// The strides along the outer dimension (m or n) and along k.
struct Strides {
  std::int64_t outer, k;
};

/// The operand as rows in its own memory, or in that of its copy.
TensorMapSpec packed(Pack pack, const void* data, Strides strides, std::int64_t extent,
                     std::int64_t k, std::size_t element_bytes) {
  if (pack == Pack::no) return {};
  const bool is_k_major = strides.k == 1;
  const bool turns = pack == Pack::mn_major && is_k_major;
  const bool along_k = is_k_major && !turns;
  return {.data = data,
          .element_bytes = static_cast<int>(element_bytes),
          .row_length = along_k ? k : extent,
          .rows = along_k ? extent : k,
          .ld = is_k_major ? strides.outer : strides.k,
          .is_transposed = turns};
}

/// The strides of a packed copy.
Strides strides_of_copy(Pack pack, Strides original, std::int64_t ld) {
  const bool along_k = pack == Pack::in_order && original.k == 1;
  return along_k ? Strides{ld, 1} : Strides{1, ld};
}

Strides strides_of_a(const GemmCall& call) { return {call.a.row_stride, call.a.col_stride}; }
Strides strides_of_b(const GemmCall& call) { return {call.b.col_stride, call.b.row_stride}; }

/// A placeholder for the aligned memory of a copy before that is allocated.
alignas(128) constexpr char aligned_memory[128] = {};

/// A copy without memory of its own; empty if the operand is not packed.
TensorMapSpec imagined(TensorMapSpec spec) {
  if (spec.element_bytes == 0) return spec;
  spec.data = aligned_memory;
  spec.ld = spec.ld_of_copy();
  return spec;
}

}  // namespace

bool has_fast_copies(const GemmRung& rung, const GemmCall& call) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const auto fast_copies = rung.fast_copies.of<In, Out>();
    return fast_copies == nullptr || fast_copies(call.typed<In, Out>());
  });
}

Copies copies_of(const GemmRung& rung, const GemmCall& call) {
  if (has_fast_copies(rung, call)) return Copies::fast;
  constexpr std::int64_t vector = 16;
  const bool is_aligned =
      row_alignment(call.a, call.dtype) >= vector && row_alignment(call.b, call.dtype) >= vector;
  if (!is_aligned || call.b.row_stride != 1) return Copies::slow;
  return call.a.col_stride == 1 ? Copies::both_k_major : Copies::b_k_major;
}

TensorMapSpec packed_a(const GemmConfig& config, const GemmCall& call) {
  return packed(config.pack_a, call.a.data, strides_of_a(call), call.m, call.k,
                input_bytes(call.dtype));
}

TensorMapSpec packed_b(const GemmConfig& config, const GemmCall& call) {
  return packed(config.pack_b, call.b.data, strides_of_b(call), call.n, call.k,
                input_bytes(call.dtype));
}

GemmCall with_copies(const GemmConfig& config, GemmCall call, const TensorMapSpec& a,
                     const TensorMapSpec& b) {
  if (config.pack_a != Pack::no) {
    const Strides strides = strides_of_copy(config.pack_a, strides_of_a(call), a.ld);
    call.a.data = a.data;
    call.a.row_stride = strides.outer;
    call.a.col_stride = strides.k;
  }
  if (config.pack_b != Pack::no) {
    const Strides strides = strides_of_copy(config.pack_b, strides_of_b(call), b.ld);
    call.b.data = b.data;
    call.b.row_stride = strides.k;
    call.b.col_stride = strides.outer;
  }
  return call;
}

double packing_bytes(const Packing& packing, const GemmCall& call) {
  const auto bytes = static_cast<double>(2 * input_bytes(call.dtype)) * static_cast<double>(call.k);
  return bytes * static_cast<double>((packing.a == Pack::no ? 0 : call.m) +
                                     (packing.b == Pack::no ? 0 : call.n));
}

std::optional<Packing> packing_for_fast_copies(const GemmRung& rung, const GemmCall& call) {
  using enum Pack;
  static constexpr Packing by_copies[] = {
      {no, in_order},       {in_order, no},       {no, mn_major},       {mn_major, no},
      {in_order, in_order}, {in_order, mn_major}, {mn_major, in_order}, {mn_major, mn_major}};
  if (rung.maps || call.batch > 1 || input_bytes(call.dtype) != 4) return std::nullopt;
  if (has_fast_copies(rung, call)) return std::nullopt;
  for (const Packing& packing : by_copies) {
    const GemmConfig config = {.pack_a = packing.a, .pack_b = packing.b};
    const GemmCall packed = with_copies(config, call, imagined(packed_a(config, call)),
                                        imagined(packed_b(config, call)));
    if (has_fast_copies(rung, packed)) return packing;
  }
  return std::nullopt;
}

}  // namespace rung::cuda
