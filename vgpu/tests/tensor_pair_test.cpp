// tcgen05 with .cta_group::2: pairs of blocks of a cluster. Cluster launch control, and conversions of 4- and 6-bit
// floats.

#include <fmt/format.h>

#include <array>
#include <bit>

#include "vgpu/schedule.hpp"
#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr int columns = 64, depth = 16;  // of bf16

class TensorPairTest : public AsyncTest {
 protected:
  TensorPairTest() { device = parse_device("b200"); }

  static std::uint16_t bf16(int value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >>
                                      16);
  }
  static int value_a(int row, int k) { return (row * 7 + k * 3) % 11 - 5; }
  static int value_b(int column, int k) { return (column * 5 + k) % 7 - 3; }

  /// A of m / 2 rows and B of 32 columns for each block: K-major, no swizzle, 8 rows of 16 bytes together.
  std::vector<std::uint16_t> images(int m) {
    const int rows = m / 2, of_b = columns / 2;
    std::vector<std::uint16_t> image(static_cast<std::size_t>(2 * words_), 0);
    const auto at = [](int line, int k) {
      return line / 8 * 128 + k / 8 * 64 + line % 8 * 8 + k % 8;
    };
    for (int rank = 0; rank < 2; ++rank) {
      for (int k = 0; k < depth; ++k) {
        for (int row = 0; row < rows; ++row) {
          image[static_cast<std::size_t>(rank * words_ + at(row, k))] =
              bf16(value_a(rank * rows + row, k));
        }
        for (int column = 0; column < of_b; ++column) {
          image[static_cast<std::size_t>(rank * words_ + 2048 + at(column, k))] =
              bf16(value_b(rank * of_b + column, k));
        }
      }
    }
    return image;
  }

  static constexpr std::uint64_t a_descriptor =
      std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32 | std::uint64_t{1} << 46;
  static constexpr std::uint64_t b_descriptor = a_descriptor | 4096 >> 4;
  static constexpr std::uint32_t form_of(int m) {
    return 1u << 4 | 1u << 7 | 1u << 10 | static_cast<std::uint32_t>(columns / 8) << 17 |
           static_cast<std::uint32_t>(m / 16) << 24;
  }

  /// Block 0 multiplies for both. `wait` is what the other block does before it reads.
  static std::string kernel(int m, const std::string& mask, const std::string& wait,
                            const std::string& end = {}) {
    return entry(
        ".param .u64 image, .param .u64 out",
        ".shared .align 1024 .b8 data[8192];\n.shared .align 8 .b64 done;\n.shared .b32 slot;\n" +
            registers() +
            fmt::format(R"(.reg .b32 %t, %v;
      ld.param.u64 %rd1, [image];
      ld.param.u64 %rd2, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r30, %cluster_ctarank;
      shr.u32 %r2, %r1, 5;
      mov.u32 %r4, data;
      mul.wide.u32 %rd5, %r30, 8192;
      add.u64 %rd1, %rd1, %rd5;
      mul.wide.u32 %rd5, %r30, 65536;
      add.u64 %rd2, %rd2, %rd5;
      shl.b32 %r3, %r1, 4;
      COPY: cvt.u64.u32 %rd5, %r3;
      add.u64 %rd6, %rd1, %rd5;
      ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd6];
      add.u32 %r5, %r4, %r3;
      st.shared.v4.u32 [%r5], {{%r20, %r21, %r22, %r23}};
      add.u32 %r3, %r3, 2048;
      setp.lt.u32 %p1, %r3, 8192;
      @%p1 bra COPY;
      setp.ne.u32 %p2, %r2, 0;
      @%p2 bra ALLOCATED;
      tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;
      setp.ne.u32 %p4, %r1, 0;
      @%p4 bra ALLOCATED;
      mbarrier.init.shared.b64 [done], 1;
      ALLOCATED:
      fence.proxy.async;
      bar.sync 0;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ld.shared.b32 %t, [slot];
      mul.lo.u32 %r6, %r2, 32;
      shl.b32 %r6, %r6, 16;
      add.u32 %r7, %t, %r6;
      mov.u64 %rd10, {0:#x};
      mov.u64 %rd11, {1:#x};
      mov.u32 %r9, {2:#x};
      mov.u16 %h1, {3};
      mov.u32 %r31, 0;
      setp.ne.u32 %p3, %r1, %r1;
      or.b32 %r8, %r1, %r30;
      setp.ne.u32 %p4, %r8, 0;
      @%p4 bra ISSUED;
      tcgen05.mma.cta_group::2.kind::f16 [%t], %rd10, %rd11, %r9, {{%r31, %r31, %r31, %r31, %r31, %r31, %r31, %r31}}, %p3;
      tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [done], %h1;
      ISSUED:
      setp.ne.u32 %p5, %r30, 0;
      )",
                        a_descriptor, b_descriptor, form_of(m), mask) +
            wait + R"(
      mul.wide.u32 %rd7, %r1, 4;
      add.u64 %rd7, %rd2, %rd7;
      mov.u32 %r12, 0;
      LOAD: add.u32 %r13, %r7, %r12;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%r13];
      tcgen05.wait::ld.sync.aligned;
      st.global.b32 [%rd7], %v;
      add.u64 %rd7, %rd7, 512;
      add.u32 %r12, %r12, 1;
      setp.lt.u32 %p1, %r12, )" +
            std::to_string(m == 256 ? columns : columns / 2) + R"(;
      @%p1 bra LOAD;
      DONE:
      bar.sync 0;
      )" + end +
            R"(
      @%p2 bra END;
      tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 64;
      END: ret;)");
  }

  /// `lanes`: computes the first lane of the warp, %r6.
  LaunchReport run_pair(int m, const std::string& mask, const std::string& wait,
                        const std::string& lanes = own_lanes) {
    options.cluster = {2, 1, 1};
    out_ = array(std::vector<std::uint32_t>(2 * 128 * 128, 0));
    std::string text = kernel(m, mask, wait);
    text.replace(text.find(own_lanes), own_lanes.size(), lanes);
    return run(text, {2, 1, 1}, {128, 1, 1}, {array(images(m)), out_});
  }
  inline static const std::string own_lanes = "mul.lo.u32 %r6, %r2, 32;";

  static constexpr int words_ = 4096;  // of 16 bits, per block
  std::uint64_t out_ = 0;
};

TEST_F(TensorPairTest, MultipliesInBothBlocks) {
  for (const int m : {128, 256}) {
    expect_none(run_pair(m, "3", wait_for("done", "0", "1")));
    const auto cells = values<std::uint32_t>(out_, 2 * 128 * 128);
    int wrong = 0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < columns; ++j) {
        int sum = 0;
        for (int k = 0; k < depth; ++k) sum += value_a(i, k) * value_b(j, k);
        const int rank = i / (m / 2), row = i % (m / 2);
        // 64 rows of a block take the lanes twice: for the first half of the columns, and the second.
        const int lane = m == 256 ? row : row + j / (columns / 2) * 64;
        const int column = m == 256 ? j : j % (columns / 2);
        const auto cell = cells[static_cast<std::size_t>(rank * 16384 + column * 128 + lane)];
        wrong += std::bit_cast<float>(cell) != static_cast<float>(sum) ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0) << m;
  }
}

TEST_F(TensorPairTest, MultipliesSparseMatricesOf64RowsInBothBlocks) {
  // Layout C (PTX ISA, 9.7.16.10.5.3): row i of a block is in lane i / 16 * 32 + i % 16, and so are its metadata.
  std::string text = kernel(128, "3", wait_for("done", "0", "1"));
  const auto replace = [&](std::string_view from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("[slot], 64", "[slot], 128");
  replace("%t, 64", "%t, 128");
  replace("%r12, 32", "%r12, 64");
  replace(fmt::format("mov.u32 %r9, {:#x}", form_of(128)),
          fmt::format("mov.u32 %r9, {:#x}", form_of(128) | 1u << 2));
  replace("tcgen05.mma.cta_group::2.kind::f16 [%t], %rd10, %rd11,",
          "tcgen05.mma.sp.cta_group::2.kind::f16 [%t], %rd10, %rd11, [%r14],");
  // Even rows hold elements 0 and 1 of each four, odd rows 2 and 3.
  replace("add.u32 %r7, %t, %r6;", R"(add.u32 %r7, %t, %r6;
      add.u32 %r14, %t, 64;
      add.u32 %r15, %r7, 64;
      and.b32 %r16, %r1, 1;
      setp.eq.u32 %p3, %r16, 0;
      selp.b32 %r16, 0x44444444, 0xEEEEEEEE, %p3;
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r15], {%r16};
      tcgen05.wait::st.sync.aligned;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;)");
  replace(fmt::format("mov.u64 %rd11, {:#x}", b_descriptor),
          fmt::format("mov.u64 %rd11, {:#x}", b_descriptor + (std::uint64_t{256 >> 4} << 32)));
  std::vector<std::uint16_t> image(static_cast<std::size_t>(2 * words_), 0);
  const auto at = [](int line, int k, int depth) {
    return static_cast<std::size_t>(line / 8 * depth * 8 + k / 8 * 64 + line % 8 * 8 + k % 8);
  };
  constexpr int of_b = columns / 2;
  for (int rank = 0; rank < 2; ++rank) {
    const auto first = static_cast<std::size_t>(rank * words_);
    for (int k = 0; k < depth; ++k) {
      for (int row = 0; row < 64; ++row) {
        image[first + at(row, k, depth)] = bf16(value_a(rank * 64 + row, k));
      }
    }
    for (int k = 0; k < 2 * depth; ++k) {
      for (int column = 0; column < of_b; ++column) {
        image[first + 2048 + at(column, k, 2 * depth)] = bf16(value_b(rank * of_b + column, k));
      }
    }
  }
  options.cluster = {2, 1, 1};
  out_ = array(std::vector<std::uint32_t>(2 * 128 * 128, 0));
  expect_none(run(text, {2, 1, 1}, {128, 1, 1}, {array(image), out_}));
  const auto cells = values<std::uint32_t>(out_, 2 * 128 * 128);
  int wrong = 0;
  for (int i = 0; i < 128; ++i) {
    for (int j = 0; j < columns; ++j) {
      int sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += value_a(i, k) * value_b(j, k / 2 * 4 + k % 2 + i % 2 * 2);
      }
      const int row = i % 64, lane = row / 16 * 32 + row % 16;
      const auto cell = cells[static_cast<std::size_t>(i / 64 * 16384 + j * 128 + lane)];
      wrong += std::bit_cast<float>(cell) != static_cast<float>(sum) ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(TensorPairTest, LanesOfTheSecondBlockMayCountOn) {
  // Warp w of block r addresses lane 128 r + 32 w, as rows of D are counted.
  expect_none(run_pair(256, "3", wait_for("done", "0", "1"),
                       "shl.b32 %r6, %r30, 2;\nadd.u32 %r6, %r6, %r2;\nmul.lo.u32 %r6, %r6, 32;"));
  const auto cells = values<std::uint32_t>(out_, 2 * 128 * 128);
  for (int i = 0; i < 256; ++i) {
    int sum = 0;
    for (int k = 0; k < depth; ++k) sum += value_a(i, k) * value_b(0, k);
    const auto cell = cells[static_cast<std::size_t>(i / 128 * 16384 + i % 128)];
    EXPECT_EQ(std::bit_cast<float>(cell), static_cast<float>(sum)) << i;
  }
  // Block 0 has no such lanes.
  found(run_pair(256, "3", wait_for("done", "0", "1"),
                 "add.u32 %r6, %r2, 4;\nmul.lo.u32 %r6, %r6, 32;"),
        HazardKind::tensor_memory);
}

TEST_F(TensorPairTest, AMaskLeadsToTheEvenBlock) {
  // Compilers clear the bits of the mask that are zero in an aligned address, here of 8 and 1024 bytes.
  for (const char* const mask : {"0xFEFFFFFF", "-16777217", "-16777224", "-16778240"}) {
    const std::string text =
        entry(".param .u64 out", ".shared .align 8 .b32 word;\n" + registers() +
                                     fmt::format(R"(
      ld.param.u64 %rd1, [out];
      mov.u32 %r1, %cluster_ctarank;
      mov.u32 %r2, word;
      st.shared.u32 [%r2], 0;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      and.b32 %r3, %r2, {};
      setp.eq.u32 %p1, %r1, 1;
      @%p1 st.shared::cluster.u32 [%r3], 7;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      setp.ne.u32 %p2, %r1, %r1;
      @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r2];
      ld.shared.u32 %r4, [%r2];
      mul.wide.u32 %rd2, %r1, 4;
      add.u64 %rd2, %rd1, %rd2;
      st.global.u32 [%rd2], %r4;
      ret;)",
                                                 mask));
    options.cluster = {2, 1, 1};
    const std::uint64_t out = memory.allocate(8);
    expect_none(run(text, {2, 1, 1}, {1, 1, 1}, {out}));
    EXPECT_EQ(values<std::uint32_t>(out, 2), (std::vector<std::uint32_t>{7, 0})) << mask;
  }
}

TEST_F(TensorPairTest, RelaxedBarriersOrderCompletedLoads) {
  // Warp 0 releases columns that the other warps have loaded: all wait for their loads first.
  const auto released_after = [&](const std::string& barrier, const std::string& wait) {
    std::string text = kernel(256, "3", wait_for("done", "0", "1"));
    const auto replace = [&](std::string_view from, const std::string& to) {
      text.replace(text.find(from), from.size(), to);
    };
    replace("bar.sync 0;\n      \n", barrier);
    replace("tcgen05.wait::ld.sync.aligned;", wait);
    options.cluster = {2, 1, 1};
    out_ = array(std::vector<std::uint32_t>(2 * 128 * 128, 0));
    return run(text, {2, 1, 1}, {128, 1, 1}, {array(images(256)), out_});
  };
  const std::string of_cluster =
      "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
  expect_none(released_after(of_cluster, "tcgen05.wait::ld.sync.aligned;"));
  found(released_after(of_cluster, ""), HazardKind::in_flight);
  found(released_after("", "tcgen05.wait::ld.sync.aligned;"), HazardKind::tensor_memory);
}

TEST_F(TensorPairTest, ReportsABlockThatReadsTooEarly) {
  // The other block does not wait for the commit.
  const LaunchReport report =
      run_pair(256, "1", "@%p5 bra LOADS;\n" + wait_for("done", "0", "1") + "LOADS:\n");
  found(report, HazardKind::uninitialised_read);
}

TEST_F(TensorPairTest, ReportsABlockThatExitsEarly) {
  // The other block releases its columns and exits while block 0 multiplies.
  const LaunchReport report = run_pair(256, "1", "@%p5 bra DONE;\n" + wait_for("done", "0", "1"));
  EXPECT_TRUE(has(report, HazardKind::in_flight) || has(report, HazardKind::tensor_memory));
}

TEST_F(TensorPairTest, LaunchControlHandsOutEachClusterOnce) {
  // Each block counts itself after the positions, its own position and, as long as there are some, those of clusters
  // that it cancels.
  const std::string text =
      entry(".param .u64 out", ".shared .align 16 .b8 response[16];\n.shared .align 8 .b64 bar;\n" +
                                   registers() + R"(.reg .b128 %c, %d; .reg .b32 %x, %y, %z;
      ld.param.u64 %rd1, [out];
      mov.u32 %x, %ctaid.x;
      mov.u32 %r5, 0;
      mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      red.global.add.u32 [%rd1+148], 1;
      NEXT: mul.wide.u32 %rd2, %x, 4;
      add.u64 %rd2, %rd1, %rd2;
      red.global.add.u32 [%rd2], 1;
      mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
      clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];
      )" + wait_for("bar", "%r5", "1") +
                                   R"(
      ld.shared.b128 %c, [response];
      mov.b128 {%rd5, %rd6}, %c;
      mov.b128 %d, {%rd5, %rd6};
      mov.b128 %c, %d;
      clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %c;
      @%p1 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %c;
      xor.b32 %r5, %r5, 1;
      @%p1 bra NEXT;
      ret;)");
  // In the usual order, and in random ones, which permute the clusters that start.
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    set_schedule(seed);
    const std::uint64_t out = array(std::vector<std::uint32_t>(38, 0));
    expect_none(run(text, {37, 1, 1}, {1, 1, 1}, {out}));
    std::vector<std::uint32_t> counts = values<std::uint32_t>(out, 38);
    const std::uint32_t started = counts.back();
    counts.pop_back();
    EXPECT_EQ(counts, std::vector<std::uint32_t>(37, 1)) << seed;
    // The first block takes all tiles, on every machine.
    if (seed == 0) {
      EXPECT_EQ(started, 1);
    }
  }
  set_schedule(0);
}

TEST_F(TensorPairTest, GathersAndScattersRows) {
  std::vector<std::uint16_t> matrix(16 * 32);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<std::uint16_t>(i);
  const std::uint64_t to = array(std::vector<std::uint16_t>(16 * 32, 0));
  const std::string text =
      entry(".param .u64 from, .param .u64 to",
            ".shared .align 128 .b8 data[256];\n.shared .align 8 .b64 bar;\n" + registers() + R"(
      ld.param.u64 %rd1, [from];
      ld.param.u64 %rd2, [to];
      mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
      cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [data], [%rd1, {0, 9, 2, 15, 4}], [bar];
      )" + wait_for("bar", "0", "1") +
                R"(
      cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd2, {0, 3, 12, 0, 7}], [data];
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
      ret;)");
  const auto of = [&](std::uint64_t address) {
    return map(address, TensorElement::bf16, 32, 16, 64, 32, 1);
  };
  expect_none(run(text, {1, 1, 1}, {1, 1, 1}, {of(array(matrix)), of(to)}));
  const auto result = values<std::uint16_t>(to, 16 * 32);
  const std::array<std::array<std::size_t, 2>, 4> moved = {{{9, 3}, {2, 12}, {15, 0}, {4, 7}}};
  for (const auto& [from_row, to_row] : moved) {
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_EQ(result[to_row * 32 + i], matrix[from_row * 32 + i]);
  }
  EXPECT_EQ(result[32], 0);
}

TEST_F(TensorPairTest, ConvertsSmallFloats) {
  // Rounds 5 (a tie of e2m1), a NaN, infinity and -0.25 to each format, and widens the pairs again.
  const std::string text = entry(".param .u64 out", registers() + R"(.reg .b8 %b<2>;
      ld.param.u64 %rd1, [out];
      mov.f32 %f1, 0f40A00000;
      mov.f32 %f2, 0f7FC00000;
      mov.f32 %f3, 0f7F800000;
      mov.f32 %f4, 0fBE800000;
      cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2;
      cvt.rn.satfinite.e2m1x2.f32 %b1, %f3, %f4;
      mov.b32 %r1, {%b0, %b1, %b0, %b1};
      st.global.u32 [%rd1], %r1;
      cvt.rn.f16x2.e2m1x2 %r2, %b0;
      st.global.u32 [%rd1+4], %r2;
      cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f4;
      cvt.u32.u16 %r3, %h1;
      st.global.u32 [%rd1+8], %r3;
      cvt.rn.satfinite.e3m2x2.f32 %h1, %f3, %f4;
      cvt.u32.u16 %r3, %h1;
      st.global.u32 [%rd1+12], %r3;
      cvt.rp.satfinite.ue8m0x2.f32 %h1, %f1, %f3;
      cvt.u32.u16 %r3, %h1;
      st.global.u32 [%rd1+16], %r3;
      cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;
      cvt.u32.u16 %r3, %h1;
      st.global.u32 [%rd1+20], %r3;
      cvt.rn.bf16x2.ue8m0x2 %r4, %h1;
      st.global.u32 [%rd1+24], %r4;
      ret;)");
  const std::uint64_t out = array(std::vector<std::uint32_t>(7, 0));
  expect_none(run(text, {1, 1, 1}, {1, 1, 1}, {out}));
  // 5 is halfway between 4 (0110) and 6 (0111): to even. NaN and infinity become 6. -0.25 is halfway between -0 and
  // -0.5.
  const std::vector<std::uint32_t> wanted = {0x78677867, 0x44004600, 0x1A22,    0x1F24,
                                             0x82FE,     0x81FF,     0x40807FFF};
  EXPECT_EQ(values<std::uint32_t>(out, 7), wanted);
}

}  // namespace
}  // namespace rung::vgpu
