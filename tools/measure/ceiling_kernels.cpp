#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/measure/ceiling_kernels.cpp"
#include "device/cpu/simd.hpp"
#include "rung/types.hpp"
// After simd.hpp, which must come first in a file that is compiled once per target.
#include "tools/measure/ceiling_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int accumulators = 12;  // hides 4 to 5 cycles of latency on 2 ports, in 16 registers

template <class T>
double multiply_add(std::int64_t iterations) {
  const hn::ScalableTag<T> d;
  volatile T opaque = 1;  // prevents constant folding
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

#if HWY_TARGET == HWY_SCALAR
double dot_i8(std::int64_t iterations) { return fma_i32(iterations); }
double dot_flops_i8() { return flops_i32(); }
#else
/// int8 converted to int16, as gemm/cpu/dot_products does without VNNI.
double dot_i8(std::int64_t iterations) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Repartition<std::int16_t, decltype(d)> pairs;
  volatile std::int16_t opaque = 1;
  const auto factors = hn::Set(pairs, opaque);
  hn::Vec<decltype(d)> acc[accumulators];
  for (auto& sum : acc) sum = hn::Zero(d);
  auto other = hn::Zero(d);
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (auto& sum : acc) {  // the product depends on the sum, which prevents hoisting it
      sum = hn::ReorderWidenMulAccumulate(d, hn::BitCast(pairs, sum), factors, sum, other);
    }
  }
  for (int i = 1; i < accumulators; ++i) acc[0] = hn::Add(acc[0], acc[i]);
  return static_cast<double>(hn::GetLane(hn::Add(acc[0], other)));
}
double dot_flops_i8() { return 2 * flops_i32(); }
#endif

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
  // Two loads per operation if there is a three-way OR, so that loads are the bottleneck.
  for (std::int64_t offset = 0; offset < length; offset += 2 * line) {
    for (int s = 0; s < streams; ++s) {
      // DRAM needs several distant streams; caches need only one.
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
    asm volatile("" : "+r"(first));  // prevents merging of repeated reads
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

#if HWY_TARGET == HWY_AVX3
#define RUNG_DOT_TARGET HWY_TARGET_STR ",avx512vnni,avx512bf16"
#elif HWY_TARGET == HWY_AVX2
#define RUNG_DOT_TARGET HWY_TARGET_STR ",avxvnni"
#endif

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
HWY_PUSH_ATTRIBUTES(RUNG_DOT_TARGET)
namespace rung::HWY_NAMESPACE::dot_products {

constexpr double group_i8 = 4;  // multiply-adds per lane and instruction
constexpr double group_bf16 = 2;

double i8(std::int64_t iterations) {
  using Words = hn::Vec<hn::ScalableTag<std::int32_t>>;
  volatile std::int32_t opaque = 0x01010101;
  const Words factors = hn::Set(hn::ScalableTag<std::int32_t>(), opaque);
  Words acc[accumulators];
  for (auto& sum : acc) sum = factors;
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (auto& sum : acc) {
#if HWY_TARGET == HWY_AVX3
      sum = Words{_mm512_dpbusd_epi32(sum.raw, factors.raw, factors.raw)};
#else
      sum = Words{_mm256_dpbusd_avx_epi32(sum.raw, factors.raw, factors.raw)};
#endif
    }
  }
  for (int i = 1; i < accumulators; ++i) acc[0] = hn::Add(acc[0], acc[i]);
  return static_cast<double>(hn::GetLane(acc[0]));
}
double flops_i8() { return group_i8 * flops_i32(); }

#if HWY_TARGET == HWY_AVX3
double bf16(std::int64_t iterations) {
  const hn::ScalableTag<float> d;
  volatile std::int32_t opaque = 0x3F803F80;  // 1, 1
  const auto factors = hn::Set(hn::ScalableTag<std::int32_t>(), opaque);
  hn::Vec<decltype(d)> acc[accumulators];
  for (auto& sum : acc) sum = hn::Zero(d);
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    for (auto& sum : acc) {
      sum.raw = _mm512_dpbf16_ps(sum.raw, (__m512bh)factors.raw, (__m512bh)factors.raw);
    }
  }
  for (int i = 1; i < accumulators; ++i) acc[0] = hn::Add(acc[0], acc[i]);
  return static_cast<double>(hn::GetLane(acc[0]));
}
double flops_bf16() { return group_bf16 * flops_f32(); }
#endif

}  // namespace rung::HWY_NAMESPACE::dot_products
HWY_POP_ATTRIBUTES
#undef RUNG_DOT_TARGET
#endif

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

template <>
FmaKernel dot_kernel<bfloat16>() {
#if HWY_TARGETS & HWY_AVX3
  if (cpu::machine().isa.contains(cpu::Isa::avx512_bf16)) {
    return {N_AVX3::dot_products::bf16, N_AVX3::dot_products::flops_bf16()};
  }
#endif
  return {nullptr, 0};
}

template <>
FmaKernel dot_kernel<std::int8_t>() {
#if HWY_TARGETS & HWY_AVX3
  if (cpu::machine().isa.contains(cpu::Isa::avx512_vnni)) {
    return {N_AVX3::dot_products::i8, N_AVX3::dot_products::flops_i8()};
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (cpu::machine().isa.contains(cpu::Isa::avx_vnni)) {
    return {N_AVX2::dot_products::i8, N_AVX2::dot_products::flops_i8()};
  }
#endif
  return {RUNG_PICK_TARGET(dot_i8), RUNG_PICK_TARGET(dot_flops_i8)()};
}

ReadKernel read_kernel() { return RUNG_PICK_TARGET(read); }

}  // namespace rung
#endif
