// cp.async.bulk: copies of bytes and tensor boxes, into and out of shared memory, and the waits
// that they need (PTX ISA, 9.7.9.25).

#include <numeric>

#include "vgpu/lines.hpp"
#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

class BulkCopyTest : public AsyncTest {
 protected:
  /// Runs the body in one warp, with parameters x and y in %rd1 and %rd2. %p1 is true in lane 0.
  LaunchReport run_body(const std::string& body, std::uint64_t x, std::uint64_t y) {
    return run(entry(".param .u64 x, .param .u64 y", R"(
      .shared .align 1024 .b8 data[8192];
      .shared .align 8 .b8 bar[16];)" + registers() +
                                                         R"(
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      mov.u32 %r1, %tid.x;
      setp.eq.u32 %p1, %r1, 0;
      @!%p1 bra STARTED;
      mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      STARTED: bar.sync 0;
      mov.u32 %r2, data;
      )" + body + "\nret;"),
               {1, 1, 1}, {32, 1, 1}, {x, y});
  }
  /// Copies `bytes` bytes from shared memory to y, by all lanes.
  static std::string to_y(int bytes) {
    return R"(
      shl.b32 %r10, %r1, 2;
      add.u32 %r11, %r2, %r10;
      cvt.u64.u32 %rd10, %r10;
      add.u64 %rd11, %rd2, %rd10;
      mov.u32 %r12, 0;
      COPY: ld.shared.u32 %r13, [%r11];
      st.global.u32 [%rd11], %r13;
      add.u32 %r11, %r11, 128;
      add.u64 %rd11, %rd11, 128;
      add.u32 %r12, %r12, 128;
      setp.lt.u32 %p2, %r12, )" +
           std::to_string(bytes) + ";\n@%p2 bra COPY;\n";
  }
  std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), 1u);
    return result;
  }
};

std::string load(const std::string& copy, int bytes) {
  return "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) +
         ";\n@%p1 " + copy + "\n" + wait_for("bar", "0", "0");
}
const std::string bulk_load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [bar];";
const std::string tensor_load =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], "
    "[%rd1, "
    "{%r20, %r21}], [bar];";
std::string at(int x, int y) {
  return "mov.u32 %r20, " + std::to_string(x) + ";\nmov.u32 %r21, " + std::to_string(y) + ";\n";
}

TEST_F(BulkCopyTest, BytesIn) {
  const std::uint64_t x = array(numbers(128)), y = memory.allocate(512);
  expect_none(run_body(load(bulk_load, 512) + to_y(512), x, y));
  EXPECT_EQ(values<std::uint32_t>(y, 128), numbers(128));
}

TEST_F(BulkCopyTest, NoBytesIn) {
  const std::uint64_t x = array(numbers(128)), y = memory.allocate(512);
  const std::string none =
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 0, "
      "[bar];\n";
  expect_none(run_body(none + load(bulk_load, 512) + to_y(512), x, y));
  EXPECT_EQ(values<std::uint32_t>(y, 128), numbers(128));
}

TEST_F(BulkCopyTest, AreNoRequests) {
  // 512 bytes, starting in the middle of a sector and a line.
  const std::uint64_t x = array(numbers(256)), y = memory.allocate(512);
  const LaunchReport in = run_body(load(bulk_load, 512) + to_y(512), x + 80, y);
  const Counters& c = in.counters;
  EXPECT_EQ(c.bulk_loads, 1u);
  EXPECT_EQ(c.bulk_load_bytes, 512u);
  EXPECT_EQ(c.bulk_load_sectors, 17u);
  EXPECT_EQ(c.bulk_load_lines, 5u);
  EXPECT_EQ(c.bulk_shared_store_bytes, 512u);
  EXPECT_EQ(c.global_load_requests + c.global_load_sectors, 0u);
  EXPECT_EQ(c.global_store_sectors, 16u) << "of the warp's stores";
  EXPECT_EQ(c.shared_store_requests + c.bulk_stores + c.bulk_shared_load_bytes, 0u);
  LineCounters all;
  for (const LineCounters& line : by_line(in, sites(*module->kernel("k")))) all += line;
  EXPECT_EQ(all.bulk_sectors, 17u);
  EXPECT_EQ(all.sectors(), 17u + 16u);
  EXPECT_EQ(all.global_requests, 4u) << "the stores";
  options.observe = false;
  EXPECT_EQ(run_body(load(bulk_load, 512), x, y).counters.bulk_load_sectors, 0u);
}

TEST_F(BulkCopyTest, BytesInWithoutWaiting) {
  const std::uint64_t x = array(numbers(128)), y = memory.allocate(512);
  const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n";
  const LaunchReport report = run_body(expect + "@%p1 " + bulk_load + "\n" + to_y(512), x, y);
  const Hazard hazard = found(report, HazardKind::shared_race);
  EXPECT_EQ(hazard.first.access, "read");
  EXPECT_EQ(hazard.other.access, "bulk copy");
  EXPECT_EQ(hazard.address, "data + 0");
  // The block also ended before the copy completed.
  EXPECT_TRUE(has(report, HazardKind::in_flight));
}

TEST_F(BulkCopyTest, TooFewBytesDue) {
  const std::uint64_t x = array(numbers(128)), y = memory.allocate(512);
  const Hazard hazard = found(run_body(load(bulk_load, 1024), x, y), HazardKind::deadlock);
  EXPECT_NE(hazard.message.find("waits for 0 of 1 arrivals and 512 bytes"), std::string::npos)
      << hazard.message;
}

TEST_F(BulkCopyTest, MoreBytesThanThePhaseExpects) {
  const std::uint64_t x = array(numbers(256)), y = memory.allocate(512);
  const std::string second = "add.u32 %r3, %r2, 512;\n@%p1 " +
                             std::string(
                                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                                 "::bytes [%r3], [%rd1], 512, [bar];\n");
  const std::string next =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n" + wait_for("bar", "1", "9");
  const Hazard hazard =
      found(run_body(second + load(bulk_load, 512) + next, x, y), HazardKind::barrier_misuse);
  EXPECT_NE(hazard.message.find("phase 0 has ended before the 512 bytes"), std::string::npos)
      << hazard.message;
}

TEST_F(BulkCopyTest, InitialisationHasToBeVisible) {
  const std::uint64_t x = array(numbers(128));
  std::string text = entry(".param .u64 x, .param .u64 y", R"(
      .shared .align 1024 .b8 data[8192];
      .shared .align 8 .b8 bar[16];)" + registers() + R"(
      ld.param.u64 %rd1, [x];
      mov.u32 %r2, data;
      setp.eq.u32 %p1, %r2, %r2;
      mbarrier.init.shared.b64 [bar], 1;
      )" + load(bulk_load, 512) + "ret;");
  found(run(text, {1, 1, 1}, {1, 1, 1}, {x, x}), HazardKind::missing_fence);
  const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
  text.insert(text.find(init) + init.size(), "fence.proxy.async;\n");
  expect_none(run(text, {1, 1, 1}, {1, 1, 1}, {x, x}));
}

// Each lane writes 16 of 512 bytes.
const std::string fill = R"(
  shl.b32 %r3, %r1, 4;
  add.u32 %r4, %r2, %r3;
  st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r3};
  )";
const std::string bulk_store =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;\n";
const std::string commit = "@%p1 cp.async.bulk.commit_group;\n";
const std::string fenced = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";

TEST_F(BulkCopyTest, BytesOut) {
  const std::uint64_t y = memory.allocate(512);
  const LaunchReport report =
      run_body(fill + fenced + bulk_store + commit + "@%p1 cp.async.bulk.wait_group 0;", y, y);
  expect_none(report);
  EXPECT_EQ(report.counters.bulk_stores, 1u);
  EXPECT_EQ(report.counters.bulk_store_bytes, 512u);
  EXPECT_EQ(report.counters.bulk_store_sectors, 16u);
  EXPECT_EQ(report.counters.bulk_store_lines, 4u);
  EXPECT_EQ(report.counters.bulk_shared_load_bytes, 512u);
  EXPECT_EQ(report.counters.bulk_loads + report.counters.global_store_requests, 0u);
  const auto result = values<std::uint32_t>(y, 128);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(result[i], i % 4 == 3 ? i / 4 * 16 : i / 4);
}

TEST_F(BulkCopyTest, BytesOutHazards) {
  const std::uint64_t y = memory.allocate(512);
  const std::string wait = "@%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\n";
  const std::string again = "st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};\n";
  expect_none(run_body(fill + fenced + bulk_store + commit + wait + again, y, y));
  // The source is overwritten while the copy reads it.
  const std::string barrier = "bar.sync 0;\n";
  found(run_body(fill + fenced + bulk_store + commit + barrier + again + wait, y, y),
        HazardKind::shared_race);
  // Not committed: the wait has no effect.
  found(run_body(fill + fenced + bulk_store + wait + again, y, y), HazardKind::shared_race);
  // The program never waits for it.
  found(run_body(fill + fenced + bulk_store + commit, y, y), HazardKind::in_flight);
  // Written through the generic proxy without a fence.
  found(run_body(fill + "bar.sync 0;\n" + bulk_store + commit + wait, y, y),
        HazardKind::missing_fence);
  // Not ordered at all.
  found(run_body(fill + "fence.proxy.async;\n" + bulk_store + commit + wait, y, y),
        HazardKind::shared_race);
}

TEST_F(BulkCopyTest, BoxWithEdgesAndSwizzle) {
  // A tensor of 40 x 20 words and a box of 32 x 8 at (16, 14): 24 columns and 6 rows of it are
  // inside.
  const std::uint64_t x = array(numbers(40 * 20)), y = memory.allocate(1024);
  for (const auto swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_128}) {
    const std::uint64_t map_x = map(x, TensorElement::f32, 40, 20, 160, 32, 8, swizzle);
    const LaunchReport report =
        run_body(at(16, 14) + load(tensor_load, 1024) + to_y(1024), map_x, y);
    expect_none(report);
    EXPECT_EQ(report.counters.bulk_load_bytes, 6u * 96);
    EXPECT_EQ(report.counters.bulk_load_sectors, 6u * 3);
    EXPECT_EQ(report.counters.bulk_load_lines, 7u)
        << "18 to 24: two rows share one, two lie in two";
    EXPECT_EQ(report.counters.bulk_shared_store_bytes, 1024u) << "zeros are written too";
    const auto result = values<std::uint32_t>(y, 256);
    for (std::uint32_t row = 0; row < 8; ++row) {
      for (std::uint32_t column = 0; column < 32; ++column) {
        const bool exists = row + 14 < 20 && column + 16 < 40;
        const std::uint32_t chunk =
            swizzle == TensorSwizzle::none ? column / 4 : (column / 4) ^ row;
        EXPECT_EQ(result[row * 32 + chunk * 4 + column % 4],
                  exists ? (row + 14) * 40 + column + 17 : 0)
            << row << ", " << column;
      }
    }
  }
}

TEST_F(BulkCopyTest, BoxBeforeTheBeginning) {
  const std::uint64_t x = array(numbers(40 * 20)), y = memory.allocate(1024);
  const std::uint64_t map_x = map(x, TensorElement::f32, 40, 20, 160, 32, 8);
  expect_none(run_body(at(-4, -2) + load(tensor_load, 1024) + to_y(1024), map_x, y));
  const auto result = values<std::uint32_t>(y, 256);
  EXPECT_EQ(result[2 * 32 + 4], 1u);
  EXPECT_EQ(result[2 * 32 + 3], 0u);
  EXPECT_EQ(result[1 * 32 + 4], 0u);
}

TEST_F(BulkCopyTest, BoxOfThreeDimensions) {
  // A tensor of 8 x 6 x 5 words and a box of 8 x 2 x 2 at (4, 5, 3): 4 x 1 x 2 words of it are
  // inside.
  const std::uint64_t x = array(numbers(8 * 6 * 5)), y = memory.allocate(128);
  TensorMap map;
  map.tag = TensorMap::valid_tag;
  map.address = x;
  map.dimensions = 3;
  map.element = TensorElement::u32;
  map.sizes = {7, 5, 4};
  map.strides = {32, 192};
  map.box = {8, 2, 2};
  map.steps = {1, 1, 1};
  std::vector<std::byte> bytes(128);
  std::memcpy(bytes.data(), &map, sizeof map);
  const std::string copy =
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%r2], [%rd1, {%r20, %r21, %r22}], [bar], %rd5;";
  expect_none(
      run_body(at(4, 5) + "mov.u32 %r22, 3;\nmov.u64 %rd5, 0;\n" + load(copy, 128) + to_y(128),
               array(bytes), y));
  const auto result = values<std::uint32_t>(y, 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t column = i % 8 + 4, row = i / 8 % 2 + 5, plane = i / 16 + 3;
    EXPECT_EQ(result[i], column < 8 && row < 6 ? plane * 48 + row * 8 + column + 1 : 0) << i;
  }
}

TEST_F(BulkCopyTest, BoxOut) {
  // 64-byte swizzle, with the last rows and columns outside the tensor.
  std::vector<std::uint32_t> zeros(20 * 20, 0);
  const std::uint64_t x = array(numbers(16 * 8)), y = array(zeros);
  const std::uint64_t map_x = map(x, TensorElement::f32, 16, 8, 64, 16, 8, TensorSwizzle::bytes_64);
  const std::uint64_t map_y =
      map(y, TensorElement::f32, 20, 20, 80, 16, 8, TensorSwizzle::bytes_64);
  const LaunchReport report = run_body(at(0, 0) + load(tensor_load, 512) + at(8, 16) + R"(
      @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r20, %r21}], [%r2];
      @%p1 cp.async.bulk.commit_group;
      @%p1 cp.async.bulk.wait_group 0;)",
                                       map_x, map_y);
  expect_none(report);
  EXPECT_EQ(report.counters.bulk_load_bytes, 512u);
  EXPECT_EQ(report.counters.bulk_load_sectors, 16u);
  // 48 bytes in each of four rows, at 1312, 1392, 1472 and 1552.
  EXPECT_EQ(report.counters.bulk_store_bytes, 4u * 48);
  EXPECT_EQ(report.counters.bulk_store_sectors, 8u);
  EXPECT_EQ(report.counters.bulk_store_lines, 3u);
  EXPECT_EQ(report.counters.bulk_shared_load_bytes, 4u * 48);
  const auto result = values<std::uint32_t>(y, 400);
  for (std::uint32_t row = 0; row < 20; ++row) {
    for (std::uint32_t column = 0; column < 20; ++column) {
      const bool copied = row >= 16 && column >= 8;
      EXPECT_EQ(result[row * 20 + column], copied ? (row - 16) * 16 + column - 8 + 1 : 0);
    }
  }
}

TEST_F(BulkCopyTest, Tf32IsRoundedOnTheWay) {
  const std::uint64_t x =
      array(std::vector<std::uint32_t>{0x3F801000, 0x3F800FFF, 0xBF803000, 0x3F801001});
  const std::uint64_t y = memory.allocate(128);
  const std::uint64_t map_x = map(x, TensorElement::tf32, 4, 1, 16, 4, 8);
  expect_none(run_body(at(0, 0) + load(tensor_load, 128) + to_y(128), map_x, y));
  EXPECT_EQ(values<std::uint32_t>(y, 4),
            (std::vector<std::uint32_t>{0x3F800000, 0x3F800000, 0xBF804000, 0x3F802000}));
}

TEST_F(BulkCopyTest, ElementsOf4And6BitsKeepTheirPadding) {
  // A tensor of 256 x 6 elements, and a box of 128 x 4 at (128, 4), with 2 rows inside.
  struct Case {
    TensorElement element;
    int bits, filled;  // bytes of every 16 that are written
  };
  for (const auto& [element, bits, filled] :
       {Case{TensorElement::u4, 4, 16}, Case{TensorElement::u4_padded, 4, 8},
        Case{TensorElement::u6_padded, 6, 12}}) {
    const int pitch = 256 * bits / 8;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(pitch) * 6);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 1);
    const std::uint64_t x = array(bytes), y = memory.allocate(512);
    const auto swizzle =
        element == TensorElement::u4 ? TensorSwizzle::bytes_64 : TensorSwizzle::bytes_128;
    const std::uint64_t map_x =
        map(x, element, 256, 6, static_cast<std::uint64_t>(pitch), 128, 4, swizzle);
    const int signalled = 128 * bits / 8 * 4, row_bytes = element == TensorElement::u4 ? 64 : 128;
    expect_none(
        run_body(at(128, 4) + load(tensor_load, signalled) + to_y(4 * row_bytes), map_x, y));
    const auto result = values<std::uint8_t>(y, static_cast<std::size_t>(4 * row_bytes));
    for (int row = 0; row < 4; ++row) {
      for (int byte = 0; byte < 128 * bits / 8; ++byte) {
        const int to = row * row_bytes + byte / filled * 16 + byte % filled;
        const int chunk = to / 16;
        const int moved = row_bytes == 64 ? chunk ^ (chunk / 8 & 3) : chunk ^ (chunk / 8 & 7);
        const std::size_t from = static_cast<std::size_t>((row + 4) * pitch + pitch / 2 + byte);
        EXPECT_EQ(result[static_cast<std::size_t>(moved * 16 + to % 16)], row < 2 ? bytes[from] : 0)
            << bits << " bits, padded to " << filled << ", row " << row << ", byte " << byte;
      }
    }
  }
}

TEST_F(BulkCopyTest, AtomsOf32And64BytesAndFlippedHalves) {
  // A tensor of 32 x 8 words, whose lines of 128 bytes the tables of 5.5.7 permute.
  const std::uint64_t x = array(numbers(32 * 8)), y = memory.allocate(1024);
  for (const auto swizzle :
       {TensorSwizzle::bytes_128_atom_32, TensorSwizzle::bytes_128_atom_32_flip_8,
        TensorSwizzle::bytes_128_atom_64}) {
    const std::uint64_t map_x = map(x, TensorElement::f32, 32, 8, 128, 32, 8, swizzle);
    expect_none(run_body(at(0, 0) + load(tensor_load, 1024) + to_y(1024), map_x, y));
    const auto result = values<std::uint32_t>(y, 256);
    for (std::uint32_t row = 0; row < 8; ++row) {
      for (std::uint32_t column = 0; column < 32; ++column) {
        // Pairs of words change places in odd lines, quarters of the line by line modulo 4, halves in odd lines.
        std::uint32_t to = column;
        if (swizzle == TensorSwizzle::bytes_128_atom_64) {
          to = (column + row % 2 * 16) % 32;
        } else {
          const std::uint32_t quarters[4][4] = {
              {0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
          std::uint32_t within = column % 8;
          const bool flips = swizzle == TensorSwizzle::bytes_128_atom_32_flip_8 && row % 2 == 1;
          if (flips) within = within / 4 * 4 + (within % 4 + 2) % 4;
          to = quarters[row % 4][column / 8] * 8 + within;
        }
        EXPECT_EQ(result[row * 32 + to], row * 32 + column + 1) << row << ", " << column;
      }
    }
  }
  const std::uint64_t flipped =
      map(y, TensorElement::f32, 32, 8, 128, 32, 8, TensorSwizzle::bytes_128_atom_32_flip_8);
  found(
      run_body(at(0, 0) + "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, "
                          "{%r20, %r21}], [%r2];",
               flipped, y),
      HazardKind::trap);
}

/// Images of C x W x H words; see the tests of im2col.
struct Images {
  static constexpr int channels = 8, width = 9, height = 5, count = 3;
  static std::uint32_t at(int c, int w, int h, int n) {
    if (w < 0 || w >= width || h < 0 || h >= height || n < 0 || n >= count) return 0;
    return static_cast<std::uint32_t>(((n * height + h) * width + w) * channels + c + 1);
  }
  /// The map of columns of pixels of 8 channels; 4 words of padding after each pixel.
  static TensorMap map(std::uint64_t address, TensorMode mode, int pixels, TensorSwizzle swizzle) {
    TensorMap map;
    map.tag = TensorMap::valid_tag;
    map.address = address;
    map.dimensions = 4;
    map.element = TensorElement::u32;
    map.mode = mode;
    map.swizzle = swizzle;
    map.sizes = {channels - 1, width - 1, height - 1, count - 1};
    map.strides = {4 * channels, 4 * channels * width, 4 * channels * width * height};
    map.box = {channels, static_cast<std::uint16_t>(pixels), 1, 1};
    map.steps = {1, 1, 1, 1};
    return map;
  }
};

TEST_F(BulkCopyTest, ColumnsOfPixels) {
  // im2col (5.5.4): the receptive field of a 3 x 3 filter with padding 1, as loops over its outputs state it.
  struct Case {
    int stride, filter_w, filter_h;  // traversal stride, and position in the filter
  };
  const std::uint64_t x = array(numbers(8 * 9 * 5 * 3)), y = memory.allocate(64 * 32);
  for (const auto& [stride, filter_w, filter_h] : {Case{1, 0, 0}, Case{1, 2, 1}, Case{2, 1, 2}}) {
    TensorMap map = Images::map(x, TensorMode::im2col, 64, TensorSwizzle::none);
    map.lower = {-1, -1};
    map.upper = {-1, -1};  // padding - (filter - 1)
    map.steps = {1, static_cast<std::uint8_t>(stride), static_cast<std::uint8_t>(stride), 1};
    std::vector<std::byte> bytes(128);
    std::memcpy(bytes.data(), &map, sizeof map);
    // The column starts at the second output of the second line of image 1.
    const int first_w = -1 + stride, first_h = -1 + stride;
    const std::string copy = fmt::format(
        "mov.u32 %r20, 0;\nmov.u32 %r21, {};\nmov.u32 %r22, {};\nmov.u32 %r23, 1;\nmov.u16 %h1, "
        "{};\n"
        "mov.u16 %h2, {};\n",
        first_w, first_h, filter_w, filter_h);
    const std::string load_pixels = load(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], "
        "[%rd1, {%r20, %r21, %r22, %r23}], [bar], {%h1, %h2};",
        64 * 32);
    expect_none(run_body(copy + load_pixels + to_y(64 * 32), array(bytes), y));
    const auto result = values<std::uint32_t>(y, 64 * 8);
    std::size_t pixel = 0;
    bool has_begun = false;
    for (int n = 1; n < 64 && pixel < 64; ++n) {
      for (int h = -1; h <= Images::height - 2 && pixel < 64; h += stride) {
        for (int w = -1; w <= Images::width - 2 && pixel < 64; w += stride) {
          has_begun = has_begun || (w == first_w && h == first_h);
          if (!has_begun) continue;
          for (int c = 0; c < 8; ++c) {
            EXPECT_EQ(result[pixel * 8 + static_cast<std::size_t>(c)],
                      Images::at(c, w + filter_w, h + filter_h, n))
                << "pixel " << pixel << ", stride " << stride;
          }
          ++pixel;
        }
      }
    }
    EXPECT_EQ(pixel, 64u);
  }
}

TEST_F(BulkCopyTest, ColumnsOfPixelsOfOneLine) {
  // im2col::w and ::w::128 (5.5.5): lines at H = 2 of one image after the other, with a halo of two pixels.
  const std::uint64_t x = array(numbers(8 * 9 * 5 * 3)), y = memory.allocate(136 * 32);
  for (const auto mode : {TensorMode::im2col_w, TensorMode::im2col_w_128}) {
    const bool is_128 = mode == TensorMode::im2col_w_128;
    TensorMap map = Images::map(x, mode, 18, TensorSwizzle::bytes_32);
    map.upper = {-2, 0};
    std::vector<std::byte> bytes(128);
    std::memcpy(bytes.data(), &map, sizeof map);
    const int run = is_128 ? 32 : 18, total = is_128 ? 4 * 34 : 20;
    const std::string copy =
        "mov.u32 %r20, 0;\nmov.u32 %r21, 3;\nmov.u32 %r22, 2;\nmov.u32 %r23, 0;\nmov.u16 %h1, 2;\n"
        "mov.u16 %h2, 1;\n";
    const std::string load_pixels =
        load(fmt::format("cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w{}.mbarrier::"
                         "complete_tx::bytes [%r2], [%rd1, {{%r20, %r21, %r22, %r23}}], [bar], "
                         "{{%h1, %h2}};",
                         is_128 ? "::128" : ""),
             total * 32);
    expect_none(run_body(copy + load_pixels + to_y(total * 32), array(bytes), y));
    const auto result = values<std::uint32_t>(y, static_cast<std::size_t>(total) * 8);
    int w = 3, n = 0, last_w = 0, last_n = 0;
    for (int pixel = 0; pixel < total; ++pixel) {
      const int within = pixel % (run + 2);
      const bool is_halo = within >= run;
      const int from_w = is_halo ? last_w + within - run + 1 : w, from_n = is_halo ? last_n : n;
      for (int c = 0; c < 8; ++c) {
        // The 32-byte swizzle exchanges chunks of 16 bytes in every other line of 128.
        const int chunk = pixel * 2 + c / 4, to = (chunk ^ (chunk / 8 & 1)) * 4 + c % 4;
        EXPECT_EQ(result[static_cast<std::size_t>(to)], Images::at(c, from_w + 1, 2, from_n))
            << "pixel " << pixel;
      }
      if (is_halo) continue;
      last_w = w;
      last_n = n;
      if (++w > Images::width - 3) {
        w = 0;
        ++n;
      }
    }
  }
}

TEST_F(BulkCopyTest, ColumnsOfPixelsThatDoNotExist) {
  const std::uint64_t x = array(numbers(8 * 9 * 5 * 3)), y = memory.allocate(4096);
  const auto run_at = [&](TensorMode mode, int w, const char* form) {
    const TensorMap map = Images::map(x, mode, 4, TensorSwizzle::bytes_32);
    std::vector<std::byte> bytes(128);
    std::memcpy(bytes.data(), &map, sizeof map);
    return run_body(
        fmt::format("mov.u32 %r20, 0;\nmov.u32 %r21, {};\nmov.u32 %r22, 0;\nmov.u16 %h1, 0;\n", w) +
            load(fmt::format("cp.async.bulk.tensor.4d.shared::cluster.global.{}.mbarrier::"
                             "complete_tx::bytes [%r2], [%rd1, {{%r20, %r21, %r22, %r22}}], [bar], "
                             "{{%h1, %h1}};",
                             form),
                 128),
        array(bytes), y);
  };
  expect_none(run_at(TensorMode::im2col, 8, "im2col"));
  // Outside of the bounding box; a map of another mode.
  found(run_at(TensorMode::im2col, 9, "im2col"), HazardKind::out_of_bounds);
  found(run_at(TensorMode::im2col, -1, "im2col"), HazardKind::out_of_bounds);
  expect_none(run_at(TensorMode::im2col_w, -1, "im2col::w"));
  found(run_at(TensorMode::im2col, 0, "im2col::w"), HazardKind::out_of_bounds);
  found(run_at(TensorMode::tiled, 0, "im2col"), HazardKind::out_of_bounds);
}

TEST_F(BulkCopyTest, ReductionOut) {
  std::vector<float> ones(128, 1.0f), halves(128, 0.5f);
  const std::uint64_t x = array(ones), y = array(halves);
  const std::string reduce =
      "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2], [%r2], 512;\n";
  expect_none(
      run_body(load(bulk_load, 512) + reduce + commit + "@%p1 cp.async.bulk.wait_group 0;", x, y));
  EXPECT_EQ(values<float>(y, 128), std::vector<float>(128, 1.5f));
}

TEST_F(BulkCopyTest, ReductionOfABox) {
  const std::string reduce =
      "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {%r20, "
      "%r21}], [%r2];\n";
  const auto add = [&](const auto& x, const auto& y, TensorElement element) {
    const std::uint64_t to = array(y);
    const auto bytes = static_cast<std::uint32_t>(sizeof x[0]);
    const std::uint32_t columns = 64 / bytes;
    const auto box = static_cast<std::uint16_t>(columns);
    const LaunchReport report = run_body(
        at(0, 0) + load(tensor_load, 512) + reduce + commit + "@%p1 cp.async.bulk.wait_group 0;",
        map(array(x), element, columns, 8, 64, box, 8), map(to, element, columns, 8, 64, box, 8));
    EXPECT_EQ(report.counters.bulk_store_bytes, report.fault ? 0u : 512u);
    return std::pair(report, to);
  };
  const std::vector<double> doubles(64, 0x1p-40), ones(64, 1.0);
  EXPECT_EQ(values<double>(add(doubles, ones, TensorElement::f64).second, 64),
            std::vector<double>(64, 1 + 0x1p-40));
  const std::vector<std::uint64_t> large(64, 0xFFFFFFFFull), small(64, 1);
  EXPECT_EQ(values<std::uint64_t>(add(large, small, TensorElement::s64).second, 64),
            std::vector<std::uint64_t>(64, 1ull << 32));
  const std::vector<std::uint16_t> halves(256, 0x3F80);
  EXPECT_EQ(values<std::uint16_t>(add(halves, halves, TensorElement::bf16).second, 256),
            std::vector<std::uint16_t>(256, 0x4000));
  const std::vector<std::uint8_t> bytes(512, 1);
  EXPECT_NE(found(add(bytes, bytes, TensorElement::u8).first, HazardKind::trap)
                .message.find("tensors of u8, u16 or tf32 cannot be added to"),
            std::string::npos);
}

TEST_F(BulkCopyTest, WrongPlaces) {
  const std::uint64_t x = array(numbers(64));  // 256 bytes
  found(run_body(load(bulk_load, 512), x, x), HazardKind::out_of_bounds);
  found(run_body("add.u64 %rd1, %rd1, 4;\n" + load(bulk_load, 512), x, x), HazardKind::misaligned);
  found(run_body("add.u32 %r2, %r2, 8000;\n" + load(bulk_load, 512), x, x),
        HazardKind::out_of_bounds);
  // A box must start at a multiple of 16 bytes along the first dimension.
  const std::uint64_t map_x = map(x, TensorElement::f32, 16, 4, 64, 16, 4);
  EXPECT_NE(found(run_body(at(2, 0) + load(tensor_load, 256), map_x, x), HazardKind::misaligned)
                .message.find("the first coordinate is 2, of 4-byte elements; it must be"),
            std::string::npos);
  const std::uint64_t no_map = array(numbers(64));
  EXPECT_NE(found(run_body(at(0, 0) + load(tensor_load, 512), no_map, x), HazardKind::out_of_bounds)
                .message.find("is no tensor map"),
            std::string::npos);
}

}  // namespace
}  // namespace rung::vgpu
