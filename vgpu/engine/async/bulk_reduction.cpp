#include "vgpu/engine/async/bulk_reduction.hpp"

#include <cstring>
#include <functional>
#include <mutex>

#include "vgpu/engine/numbers/float16.hpp"

namespace rung::vgpu {
namespace {

using Reduction = BulkCopyOp::Reduction;

std::mutex reducing;  // serializes reductions, because blocks run on several CPU threads

template <class T, class Add = std::plus<T>>
void add_elements(std::byte* to, const std::byte* from, std::uint32_t bytes, const Add& add = {}) {
  for (std::uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T sum, more;
    std::memcpy(&sum, to + at, sizeof sum);
    std::memcpy(&more, from + at, sizeof more);
    sum = add(sum, more);
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

template <class Format>
std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  return Format::nearest(Format::number({a}) + Format::number({b})).bits;
}

}  // namespace

std::optional<Reduction> reduction_of(TensorElement element) {
  switch (element) {
    case TensorElement::f16: return Reduction::add_f16;
    case TensorElement::bf16: return Reduction::add_bf16;
    case TensorElement::u32:
    case TensorElement::s32: return Reduction::add_u32;
    case TensorElement::u64:
    case TensorElement::s64: return Reduction::add_u64;
    case TensorElement::f32:
    case TensorElement::f32_flushed: return Reduction::add_f32;
    case TensorElement::f64: return Reduction::add_f64;
    default: return std::nullopt;
  }
}

void reduce(Reduction reduction, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const std::lock_guard lock(reducing);
  switch (reduction) {
    case Reduction::add_f32: return add_elements<float>(to, from, bytes);
    case Reduction::add_f64: return add_elements<double>(to, from, bytes);
    case Reduction::add_f16: return add_elements<std::uint16_t>(to, from, bytes, &add_half<F16>);
    case Reduction::add_bf16: return add_elements<std::uint16_t>(to, from, bytes, &add_half<BF16>);
    case Reduction::add_u64: return add_elements<std::uint64_t>(to, from, bytes);
    default: return add_elements<std::uint32_t>(to, from, bytes);
  }
}

}  // namespace rung::vgpu
