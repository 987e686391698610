// tcgen05.cp and tcgen05.shift against the cells that the PTX ISA states (9.7.16.9), and TMA loads of a pair of blocks
// (9.7.9.25.5.2).

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "vgpu/model/tensor_memory_ops.hpp"
#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr int cell_columns = 16;  // that a kernel writes first, and reads at the end

/// The value of a cell before the instruction under test.
constexpr std::uint32_t cell_before(int rank, int lane, int column) {
  return 0xC0000000u | static_cast<std::uint32_t>(rank << 24 | lane << 8 | column);
}

/// A tcgen05.cp: its shape, and the lanes that receive a row, relative to the lane of the address.
struct CopyShape {
  const char* name;
  int rows, bytes;
  std::vector<int> (*lanes)(int row);
  int first_lane = 0;
};

// CuTe states the same layouts in its copy traits of these instructions.
const CopyShape copy_shapes[] = {
    {"128x256b", 128, 32, [](int row) { return std::vector{row}; }},
    {"128x128b", 128, 16, [](int row) { return std::vector{row}; }},
    {"4x256b", 4, 32, [](int row) { return std::vector{32 * row}; }},
    {"4x256b", 4, 32, [](int row) { return std::vector{32 * row}; }, 31},
    {"32x128b.warpx4", 32, 16,
     [](int row) { return std::vector{row, row + 32, row + 64, row + 96}; }},
    {"64x128b.warpx2::02_13", 64, 16, [](int row) { return std::vector{row, row + 64}; }},
    {"64x128b.warpx2::01_23", 64, 16,
     [](int row) {
       const int first = row < 32 ? row : row + 32;
       return std::vector{first, first + 32};
     }},
};

class TensorCopyTest : public AsyncTest {
 protected:
  TensorCopyTest() { device = parse_device("b200"); }

  static constexpr int image_bytes = 4096;
  std::vector<std::uint8_t> image;  // of each block
  std::vector<std::uint32_t> cells;

  /// The byte of the source in a matrix of rows of `bytes` bytes: chunks of 16 bytes, 8 rows together, no swizzle.
  static std::size_t offset(int row, int byte, int bytes) {
    return static_cast<std::size_t>(row / 8 * 8 * bytes + byte / 16 * 128 + row % 8 * 16 +
                                    byte % 16);
  }

  static std::uint64_t descriptor(int bytes) {
    return std::uint64_t{128 >> 4} << 16 | static_cast<std::uint64_t>(8 * bytes >> 4) << 32 |
           std::uint64_t{1} << 46;
  }

  /// All cells are written, block 0 issues `instructions` and commits, all blocks wait as in `wait`, and cells are read.
  /// %t is the address of the columns, %rd10 the descriptor.
  LaunchReport run_instructions(int blocks, const std::string& instructions, std::uint64_t bits,
                                const std::string& wait = wait_for("done", "0", "1")) {
    const std::string group = fmt::format(".cta_group::{}", blocks);
    const std::string commit =
        blocks == 1
            ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"
            : "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::"
              "cluster.b64 [done], %h1;\n";
    const std::string text = entry(
        ".param .u64 image, .param .u64 out",
        ".shared .align 1024 .b8 data[4096];\n.shared .align 8 .b64 done;\n.shared .b32 slot;\n" +
            registers() + ".reg .b32 %t, %v;\n" +
            fmt::format(R"(
      ld.param.u64 %rd1, [image];
      ld.param.u64 %rd2, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r30, %cluster_ctarank;
      shr.u32 %r2, %r1, 5;
      mul.wide.u32 %rd5, %r30, 4096;
      add.u64 %rd1, %rd1, %rd5;
      mul.wide.u32 %rd5, %r30, 8192;
      add.u64 %rd2, %rd2, %rd5;
      mov.u32 %r4, data;
      shl.b32 %r3, %r1, 4;
      COPY: cvt.u64.u32 %rd5, %r3;
      add.u64 %rd6, %rd1, %rd5;
      ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd6];
      add.u32 %r5, %r4, %r3;
      st.shared.v4.u32 [%r5], {{%r20, %r21, %r22, %r23}};
      add.u32 %r3, %r3, 2048;
      setp.lt.u32 %p1, %r3, 4096;
      @%p1 bra COPY;
      setp.ne.u32 %p2, %r2, 0;
      @%p2 bra ALLOCATED;
      tcgen05.alloc{0}.sync.aligned.shared::cta.b32 [slot], 32;
      setp.ne.u32 %p4, %r1, 0;
      @%p4 bra ALLOCATED;
      mbarrier.init.shared.b64 [done], 1;
      ALLOCATED:
      fence.proxy.async;
      bar.sync 0;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ld.shared.b32 %t, [slot];
      shl.b32 %r6, %r2, 21;
      add.u32 %r7, %t, %r6;
      shl.b32 %r8, %r30, 24;
      shl.b32 %r9, %r1, 8;
      or.b32 %r8, %r8, %r9;
      or.b32 %r8, %r8, 0xC0000000;
      mov.u32 %r12, 0;
      FILL: add.u32 %r13, %r7, %r12;
      or.b32 %v, %r8, %r12;
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r13], {{%v}};
      add.u32 %r12, %r12, 1;
      setp.lt.u32 %p1, %r12, {1};
      @%p1 bra FILL;
      tcgen05.wait::st.sync.aligned;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      mov.u64 %rd10, {2:#x};
      mov.u16 %h1, 3;
      or.b32 %r9, %r1, %r30;
      setp.ne.u32 %p4, %r9, 0;
      @%p4 bra ISSUED;
      {3}{4}ISSUED:
      {5}
      mul.wide.u32 %rd7, %r1, 4;
      add.u64 %rd7, %rd2, %rd7;
      mov.u32 %r12, 0;
      LOAD: add.u32 %r13, %r7, %r12;
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v}}, [%r13];
      tcgen05.wait::ld.sync.aligned;
      st.global.b32 [%rd7], %v;
      add.u64 %rd7, %rd7, 512;
      add.u32 %r12, %r12, 1;
      setp.lt.u32 %p1, %r12, {1};
      @%p1 bra LOAD;
      bar.sync 0;
      @%p2 bra END;
      tcgen05.dealloc{0}.sync.aligned.b32 %t, 32;
      END: ret;)",
                        group, cell_columns, bits, instructions, commit, wait));
    options.cluster = {static_cast<std::uint32_t>(blocks), 1, 1};
    const std::size_t count = static_cast<std::size_t>(blocks) * cell_columns * tensor_lanes;
    const std::uint64_t out = array(std::vector<std::uint32_t>(count, 0));
    const LaunchReport report =
        run(text, {static_cast<unsigned>(blocks), 1, 1}, {128, 1, 1}, {array(image), out});
    cells = values<std::uint32_t>(out, count);
    return report;
  }

  /// Different bytes for each block.
  void fill_image(int blocks) {
    image.resize(static_cast<std::size_t>(blocks * image_bytes));
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<std::uint8_t>(i * 37 + i / 256 * 11 + i / image_bytes);
    }
  }

  /// Compares all cells with expected(rank, lane, column).
  template <class F>
  void expect_cells(int blocks, const F& expected) {
    int wrong = 0;
    for (int rank = 0; rank < blocks; ++rank) {
      for (int column = 0; column < cell_columns; ++column) {
        for (int lane = 0; lane < tensor_lanes; ++lane) {
          const auto at =
              static_cast<std::size_t>((rank * cell_columns + column) * tensor_lanes + lane);
          if (cells[at] == expected(rank, lane, column) || ++wrong > 3) continue;
          ADD_FAILURE() << fmt::format("block {}, lane {}, column {}: {:#x} for {:#x}", rank, lane,
                                       column, cells[at], expected(rank, lane, column));
        }
      }
    }
    EXPECT_EQ(wrong, 0);
  }

  /// `byte_of(rank, row, byte)` is a byte of the copied matrix.
  template <class F>
  void expect_copied(const CopyShape& copy, int blocks, int first_column, const F& byte_of) {
    std::vector<int> row_of(tensor_lanes, -1);
    for (int row = 0; row < copy.rows; ++row) {
      for (const int lane : copy.lanes(row))
        row_of[static_cast<std::size_t>(copy.first_lane + lane)] = row;
    }
    expect_cells(blocks, [&](int rank, int lane, int column) {
      const int row = row_of[static_cast<std::size_t>(lane)], word = column - first_column;
      if (row < 0 || word < 0 || word >= copy.bytes / 4) return cell_before(rank, lane, column);
      std::uint32_t cell = 0;
      for (int i = 0; i < 4; ++i) {
        cell |= std::uint32_t{byte_of(rank, row, 4 * word + i)} << (8 * i);
      }
      return cell;
    });
  }

  void check_copy(const CopyShape& copy, int blocks) {
    SCOPED_TRACE(fmt::format("{} of {} blocks", copy.name, blocks));
    fill_image(blocks);
    constexpr int first_column = 3;
    expect_none(run_instructions(
        blocks,
        fmt::format("add.u32 %r13, %t, {};\ntcgen05.cp.cta_group::{}.{} [%r13], %rd10;\n",
                    copy.first_lane << 16 | first_column, blocks, copy.name),
        descriptor(copy.bytes)));
    expect_copied(copy, blocks, first_column, [&](int rank, int row, int byte) {
      return image[static_cast<std::size_t>(rank * image_bytes) + offset(row, byte, copy.bytes)];
    });
  }
};

TEST_F(TensorCopyTest, CopiesEveryShape) {
  for (const CopyShape& copy : copy_shapes) check_copy(copy, 1);
}

TEST_F(TensorCopyTest, CopiesInBothBlocksOfAPair) {
  for (const CopyShape& copy : copy_shapes) check_copy(copy, 2);
}

// 16 elements of 6 or 4 bits, followed by padding, become bytes: the low 6 bits, or bits 2 to 5 (PTX ISA, 9.7.16.9.1,
// "Optional Decompression").
TEST_F(TensorCopyTest, WidensElements) {
  for (const int bits : {6, 4}) {
    for (const CopyShape& copy : {copy_shapes[0], copy_shapes[4]}) {
      SCOPED_TRACE(fmt::format("{} bits, {}", bits, copy.name));
      fill_image(1);
      expect_none(run_instructions(1,
                                   fmt::format("tcgen05.cp.cta_group::1.{}.b8x16.{} [%t], %rd10;\n",
                                               copy.name, bits == 6 ? "b6x16_p32" : "b4x16_p64"),
                                   descriptor(copy.bytes)));
      expect_copied(copy, 1, 0, [&](int, int row, int byte) {
        const int first_bit = byte % 16 * bits;
        std::uint8_t element = 0;
        for (int i = 0; i < bits; ++i) {
          const int bit = first_bit + i;
          const std::uint8_t from = image[offset(row, byte / 16 * 16 + bit / 8, copy.bytes)];
          element |= static_cast<std::uint8_t>((from >> bit % 8 & 1) << i);
        }
        return static_cast<std::uint8_t>(bits == 4 ? element << 2 : element);
      });
    }
  }
}

// A shift moves 31 lanes of 32 bytes (9.7.16.2.3, ".31x256b (implicit)"); a copy of 4x256b then refreshes the last lane
// of each quarter. Both run in their order without a wait.
TEST_F(TensorCopyTest, ShiftsRows) {
  for (const int blocks : {1, 2}) {
    fill_image(blocks);
    expect_none(run_instructions(
        blocks,
        fmt::format("add.u32 %r13, %t, {0};\ntcgen05.shift.cta_group::{2}.down [%r13];\n"
                    "add.u32 %r13, %t, {1};\ntcgen05.cp.cta_group::{2}.4x256b [%r13], %rd10;\n",
                    32 << 16 | 4, 31 << 16 | 4, blocks),
        descriptor(32)));
    expect_cells(blocks, [&](int rank, int lane, int column) {
      if (column < 4 || column >= 12) return cell_before(rank, lane, column);
      if (lane % 32 == 31) {
        std::uint32_t cell = 0;
        std::memcpy(&cell,
                    &image[static_cast<std::size_t>(rank * image_bytes) +
                           offset(lane / 32, 4 * (column - 4), 32)],
                    4);
        return cell;
      }
      return cell_before(rank, lane / 32 == 1 ? lane + 1 : lane, column);
    });
  }
}

TEST_F(TensorCopyTest, ReportsCellsThatAreReadTooEarly) {
  fill_image(1);
  for (const char* const instruction : {"tcgen05.cp.cta_group::1.128x256b [%t], %rd10;\n",
                                        "tcgen05.shift.cta_group::1.down [%t];\n"}) {
    found(run_instructions(1, instruction, descriptor(32), ""), HazardKind::in_flight);
  }
}

TEST_F(TensorCopyTest, ReportsAddressesThatTheInstructionsDoNotTake) {
  fill_image(1);
  const Hazard hazard =
      found(run_instructions(
                1, "add.u32 %r13, %t, 0x100000;\ntcgen05.shift.cta_group::1.down [%r13];\n", 0),
            HazardKind::tensor_memory);
  EXPECT_NE(hazard.message.find("lane 16 is not a multiple of 32"), std::string::npos)
      << hazard.message;
  // Columns 28 on: the copy has 8, the allocation 32.
  found(run_instructions(1,
                         "add.u32 %r13, %t, 28;\ntcgen05.cp.cta_group::1.128x256b [%r13], %rd10;\n",
                         descriptor(32)),
        HazardKind::tensor_memory);
  found(run_instructions(1, "tcgen05.cp.cta_group::1.128x256b [%t], %rd10;\n",
                         descriptor(32) ^ std::uint64_t{1} << 46),
        HazardKind::descriptor);
  found(run_instructions(1, "tcgen05.cp.cta_group::2.128x256b [%t], %rd10;\n", descriptor(32)),
        HazardKind::bad_participant);
}

/// TMA loads of boxes of 4 rows of 64 bytes, in a cluster.
class PairLoadTest : public AsyncTest {
 protected:
  PairLoadTest() { device = parse_device("b200"); }

  static constexpr int box_words = 4 * 16;

  /// All blocks run `load` in thread 0, block 0 expects `bytes` bytes. %r6 is this block's data, %r7 the mbarrier of block
  /// `owner`. Returns what each block has then.
  LaunchReport run_loads(int blocks, int owner, const std::string& load, int bytes) {
    std::vector<std::uint32_t> matrix(static_cast<std::size_t>(blocks * box_words));
    std::iota(matrix.begin(), matrix.end(), 1);
    const std::string text =
        entry(".param .u64 map, .param .u64 out",
              ".shared .align 128 .b8 data[256];\n.shared .align 8 .b64 bar;\n" + registers() +
                  fmt::format(R"(
      ld.param.u64 %rd1, [map];
      ld.param.u64 %rd2, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r30, %cluster_ctarank;
      shl.b32 %r2, %r30, 2;
      mov.u32 %r4, bar;
      mov.u32 %r6, data;
      mov.u16 %h1, 3;
      mapa.shared::cluster.u32 %r7, %r4, {0};
      setp.ne.u32 %p1, %r1, 0;
      setp.ne.u32 %p2, %r30, {0};
      @!%p1 mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      @%p1 bra LOADED;
      @%p2 bra EXPECTED;
      mbarrier.arrive.expect_tx.shared.b64 _, [bar], {1};
      EXPECTED:
      {2}
      LOADED:
      @%p2 bra WAITED;
      {3}
      WAITED:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      shl.b32 %r8, %r1, 2;
      add.u32 %r9, %r6, %r8;
      ld.shared.u32 %r10, [%r9];
      mad.lo.u32 %r8, %r30, 256, %r8;
      cvt.u64.u32 %rd3, %r8;
      add.u64 %rd3, %rd2, %rd3;
      st.global.u32 [%rd3], %r10;
      ret;)",
                              owner, bytes, load, wait_for("bar", "0", "1")));
    options.cluster = {static_cast<std::uint32_t>(blocks), 1, 1};
    const std::uint64_t out = array(std::vector<std::uint32_t>(matrix.size(), 0));
    const std::uint64_t of = map(array(matrix), TensorElement::f32, 16,
                                 static_cast<std::uint32_t>(4 * blocks), 64, 16, 4);
    const LaunchReport report =
        run(text, {static_cast<unsigned>(blocks), 1, 1}, {box_words, 1, 1}, {of, out});
    results = values<std::uint32_t>(out, matrix.size());
    return report;
  }

  static std::string tma(const std::string& group, const std::string& multicast = "") {
    return "cp.async.bulk.tensor.2d" + group +
           ".shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
           (multicast.empty() ? "" : ".multicast::cluster") + " [%r6], [%rd1, {0, %r2}], [%r7]" +
           multicast + ";\n";
  }

  std::vector<std::uint32_t> results;
};

TEST_F(PairLoadTest, BytesCompleteAtTheMbarrierOfEitherBlock) {
  for (const int owner : {0, 1}) {
    expect_none(run_loads(2, owner, tma(".cta_group::2"), 512));
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], i + 1);
  }
}

// The signal of each copy goes to the block of the destination's pair that has the parity of the given mbarrier's.
TEST_F(PairLoadTest, SignalsOfAMulticastGoToOneBlockOfThePair) {
  expect_none(run_loads(2, 0, "@!%p2 " + tma(".cta_group::2", ", %h1"), 512));
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], i % box_words + 1);
}

TEST_F(PairLoadTest, ReportsAnMbarrierThatTheCopyDoesNotReach) {
  // Without .cta_group::2, the mbarrier is in the block of the destination.
  const Hazard alone = found(run_loads(2, 0, tma(""), 512), HazardKind::barrier_misuse);
  EXPECT_NE(alone.message.find("without .cta_group::2"), std::string::npos) << alone.message;
  // With it, in that block's pair.
  const Hazard pair =
      found(run_loads(4, 0, tma(".cta_group::2"), 1024), HazardKind::barrier_misuse);
  EXPECT_NE(pair.message.find("another pair"), std::string::npos) << pair.message;
}

// The cluster's barrier completes when warp 1 has exited, which has waited for its copy.
TEST_F(PairLoadTest, ExitedWarpsHaveWaited) {
  const std::string text = entry(
      ".param .u64 none",
      ".shared .align 1024 .b8 data[512];\n.shared .align 8 .b64 done;\n.shared .b32 slot;\n" +
          registers() + ".reg .b32 %t;\n" + R"(
      mov.u32 %r1, %tid.x;
      mov.u32 %r6, data;
      shl.b32 %r2, %r1, 3;
      add.u32 %r6, %r6, %r2;
      st.shared.v2.u32 [%r6], {%r1, %r1};
      setp.gt.u32 %p1, %r1, 31;
      setp.ne.u32 %p2, %r1, 32;
      @%p1 bra ALLOCATED;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      ALLOCATED:
      @!%p2 mbarrier.init.shared.b64 [done], 1;
      fence.proxy.async;
      bar.sync 0;
      ld.shared.b32 %t, [slot];
      @!%p1 bra RELEASE;
      mov.u64 %rd10, 0x0000400800080000;
      @%p2 bra WAIT;
      tcgen05.cp.cta_group::1.32x128b.warpx4 [%t], %rd10;
      tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      WAIT: bar.warp.sync 0xffffffff;
      )" + wait_for("done", "0", "1") +
          R"(
      ret;
      RELEASE:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;
      ret;)");
  expect_none(run(text, {1, 1, 1}, {64, 1, 1}, {0}));
}

// Block scales are in global memory in the order of the copy, so that rows of the box are no lanes.
TEST_F(PairLoadTest, BoxesOfBlockScalesHaveRowsOfTheirOwn) {
  const std::string text = entry(
      ".param .u64 map",
      ".shared .align 1024 .b8 data[512];\n.shared .align 8 .b64 bar, done;\n.shared .b32 slot;\n" +
          registers() + ".reg .b32 %t;\n" + R"(
      ld.param.u64 %rd1, [map];
      mov.u32 %r1, %tid.x;
      mov.u32 %r6, data;
      mov.u32 %r7, bar;
      setp.ne.u32 %p1, %r1, 0;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
      @%p1 bra WAIT;
      mbarrier.init.shared.b64 [bar], 1;
      mbarrier.init.shared.b64 [done], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
      mov.u32 %r2, 0;
      )" + tma("") +
          "WAIT:\nbar.warp.sync 0xffffffff;\n" + wait_for("bar", "0", "1") + R"(
      ld.shared.b32 %t, [slot];
      mov.u64 %rd10, 0x0000400800080000;
      @%p1 bra ISSUED;
      tcgen05.cp.cta_group::1.32x128b.warpx4 [%t], %rd10;
      tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      ISSUED: bar.warp.sync 0xffffffff;
      )" + wait_for("done", "0", "2") +
          "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;\nret;");
  const std::uint64_t of =
      map(array(std::vector<std::uint32_t>(128, 1)), TensorElement::f32, 64, 2, 256, 64, 2);
  expect_none(run(text, {1, 1, 1}, {32, 1, 1}, {of}));
}

}  // namespace
}  // namespace rung::vgpu
