// Sums of counters, and the classes of all instructions.

#include "vgpu/model/counters.hpp"
#include "vgpu/program/instruction_class.hpp"

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu {
namespace {

InstrClass class_of(const std::string& mnemonic) { return classify(lanes::instruction(mnemonic)); }

TEST(Counters, Add) {
  Counters a, b;
  a.ffma = 3;
  a.issued_shared_store_wavefronts = 1;
  b.ffma = 4;
  b.global_load_sectors = 5;
  a += b;
  EXPECT_EQ(a.ffma, 7u);
  EXPECT_EQ(a.global_load_sectors, 5u);
  EXPECT_EQ(a.issued_shared_store_wavefronts, 1u);
}

TEST(Counters, AddEveryOne) {
  // The structure consists of 64-bit numbers: each must be included in the sum.
  constexpr std::size_t count = sizeof(Counters) / sizeof(std::uint64_t);
  std::array<std::uint64_t, count> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i + 1;
  Counters sum, one = std::bit_cast<Counters>(numbers);
  sum += one;
  sum += one;
  const auto sums = std::bit_cast<std::array<std::uint64_t, count>>(sum);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(sums[i], 2 * (i + 1)) << "number " << i;
}

TEST(InstrClass, ByTypeOfArithmetic) {
  EXPECT_EQ(class_of("fma.rn.f32"), InstrClass::fp32);
  EXPECT_EQ(class_of("add.rn.ftz.f32x2"), InstrClass::fp32);
  EXPECT_EQ(class_of("fma.rn.f64"), InstrClass::fp64);
  EXPECT_EQ(class_of("fma.rn.bf16x2"), InstrClass::fp16);
  EXPECT_EQ(class_of("mad.wide.u32"), InstrClass::integer);
  EXPECT_EQ(class_of("dp4a.s32.u32"), InstrClass::integer);
  EXPECT_EQ(class_of("setp.lt.and.f32"), InstrClass::fp32);
  EXPECT_EQ(class_of("setp.lt.u64"), InstrClass::integer);
  EXPECT_EQ(class_of("sqrt.rn.f32"), InstrClass::special_function);
}

TEST(InstrClass, BySpaceOfMemory) {
  EXPECT_EQ(class_of("ld.global.nc.v4.f32"), InstrClass::global_memory);
  EXPECT_EQ(class_of("ld.f32"), InstrClass::global_memory) << "generic";
  EXPECT_EQ(class_of("st.shared::cta.b32"), InstrClass::shared_memory);
  EXPECT_EQ(class_of("ld.local.u64"), InstrClass::local_memory);
  EXPECT_EQ(class_of("ld.param.u64"), InstrClass::constant_memory);
  EXPECT_EQ(class_of("ld.const.f32"), InstrClass::constant_memory);
  EXPECT_EQ(class_of("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), InstrClass::shared_memory);
  EXPECT_EQ(class_of("atom.shared.add.u32"), InstrClass::atomic);
  EXPECT_EQ(class_of("red.global.add.f32"), InstrClass::atomic);
  EXPECT_EQ(class_of("cp.async.cg.shared.global"), InstrClass::async_copy);
}

TEST(InstrClass, OfTheRest) {
  EXPECT_EQ(class_of("mov.b64"), InstrClass::move);
  EXPECT_EQ(class_of("cvta.to.global.u64"), InstrClass::move);
  EXPECT_EQ(class_of("cvt.rn.f16x2.f32"), InstrClass::conversion);
  EXPECT_EQ(class_of("lop3.b32"), InstrClass::logic);
  EXPECT_EQ(class_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), InstrClass::matrix);
  EXPECT_EQ(class_of("bra.uni"), InstrClass::control);
  EXPECT_EQ(class_of("bar.sync"), InstrClass::barrier);
  EXPECT_EQ(class_of("fence.acq_rel.gpu"), InstrClass::barrier);
  EXPECT_EQ(class_of("shfl.sync.bfly.b32"), InstrClass::warp);
  EXPECT_EQ(class_of("frobnicate.b32"), InstrClass::other);
  EXPECT_STREQ(name(InstrClass::special_function), "special function");
}

}  // namespace
}  // namespace rung::vgpu
