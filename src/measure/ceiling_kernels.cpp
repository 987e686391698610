#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/ceiling_kernels.cpp"
#include "device/cpu/simd.hpp"
// After simd.hpp, which must come first in a file that is compiled once per target.
#include "measure/ceiling_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int accumulators = 12;  // hides 4 to 5 cycles of latency on 2 ports, in 16 registers

template <class T>
double multiply_add(std::int64_t iterations) {
  const hn::ScalableTag<T> d;
  volatile T opaque = 1;  // otherwise the compiler would evaluate the sums itself
  const auto factor = hn::Set(d, opaque);
  hn::Vec<decltype(d)> acc[accumulators];
  for (int i = 0; i < accumulators; ++i) acc[i] = hn::Set(d, static_cast<T>(i));
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 0; i < accumulators; ++i) {
      if constexpr (hwy::IsFloat<T>()) {
        acc[i] = hn::MulAdd(acc[i], factor, factor);
      } else {
        acc[i] = hn::Add(hn::Mul(acc[i], factor), factor);
      }
    }
  }
  for (int i = 1; i < accumulators; ++i) acc[0] = hn::Add(acc[0], acc[i]);
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, acc[0])));
}

template <class T>
double multiply_add_flops() {
  return 2.0 * accumulators * static_cast<double>(hn::Lanes(hn::ScalableTag<T>()));
}

double fma_f32(std::int64_t iterations) { return multiply_add<float>(iterations); }
double fma_f64(std::int64_t iterations) { return multiply_add<double>(iterations); }
double fma_i32(std::int64_t iterations) { return multiply_add<std::int32_t>(iterations); }
double flops_f32() { return multiply_add_flops<float>(); }
double flops_f64() { return multiply_add_flops<double>(); }
double flops_i32() { return multiply_add_flops<std::int32_t>(); }

constexpr int streams = 8;
constexpr std::int64_t line = 64;
constexpr std::int64_t prefetch_distance = 16 * line;

using Bits = hn::ScalableTag<std::uint64_t>;
using Accumulators = hn::Vec<Bits>[streams];

HWY_INLINE hn::Vec<Bits> load(const std::byte* from) {
  return hn::LoadU(Bits(), reinterpret_cast<const std::uint64_t*>(from));
}

template <bool prefetch>
HWY_INLINE void read_region(const Region& region, Accumulators& acc) {
  const auto vector_bytes = static_cast<std::int64_t>(hn::Lanes(Bits()) * sizeof(std::uint64_t));
  const auto* data = static_cast<const std::byte*>(region.data);
  const std::int64_t length = region.bytes / (streams * 2 * line) * 2 * line;  // per stream
  // Two loads per operation, if there is a three-way OR, so that loads are the bottleneck.
  for (std::int64_t offset = 0; offset < length; offset += 2 * line) {
    for (int s = 0; s < streams; ++s) {
      // Memory needs several streams that are far apart; a cache needs one.
      const std::byte* from =
          data + (prefetch ? s * length + offset : streams * offset + 2 * s * line);
      if constexpr (prefetch) {
        __builtin_prefetch(from + prefetch_distance);
        __builtin_prefetch(from + prefetch_distance + line);
      }
      for (std::int64_t i = 0; i < 2 * line; i += 2 * vector_bytes) {
        acc[s] = hn::Or3(acc[s], load(from + i), load(from + i + vector_bytes));
      }
    }
  }
  std::int64_t offset = streams * length;
  for (; offset + vector_bytes <= region.bytes; offset += vector_bytes) {
    acc[0] = hn::Or(acc[0], load(data + offset));
  }
  if (offset < region.bytes && region.bytes >= vector_bytes) {  // overlaps the part already read
    acc[1] = hn::Or(acc[1], load(data + region.bytes - vector_bytes));
    return;
  }
  for (; offset < region.bytes; ++offset) {
    acc[2] = hn::Or(acc[2], hn::Set(Bits(), std::to_integer<std::uint64_t>(data[offset])));
  }
}

template <bool prefetch>
std::uint64_t read_regions(std::span<const Region> regions, std::int64_t repeats) {
  constexpr Bits d;
  Accumulators acc;
  for (auto& bits : acc) bits = hn::Zero(d);
  const Region* first = regions.data();
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
    asm volatile("" : "+r"(first));  // so that readings are not merged
    for (std::size_t i = 0; i < regions.size(); ++i) read_region<prefetch>(first[i], acc);
  }
  for (int s = 1; s < streams; ++s) acc[0] = hn::Or(acc[0], acc[s]);
  HWY_ALIGN std::uint64_t lanes[hn::MaxLanes(d)];
  hn::Store(acc[0], d, lanes);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) bits |= lanes[i];
  return bits;
}

std::uint64_t read(std::span<const Region> regions, std::int64_t repeats, bool prefetch) {
  return prefetch ? read_regions<true>(regions, repeats) : read_regions<false>(regions, repeats);
}

}  // namespace HWY_NAMESPACE
}  // namespace rung
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {

template <>
FmaKernel fma_kernel<float>() {
  return {RUNG_PICK_TARGET(fma_f32), RUNG_PICK_TARGET(flops_f32)()};
}

template <>
FmaKernel fma_kernel<double>() {
  return {RUNG_PICK_TARGET(fma_f64), RUNG_PICK_TARGET(flops_f64)()};
}

template <>
FmaKernel fma_kernel<std::int32_t>() {
  return {RUNG_PICK_TARGET(fma_i32), RUNG_PICK_TARGET(flops_i32)()};
}

ReadKernel read_kernel() { return RUNG_PICK_TARGET(read); }

}  // namespace rung
#endif
