// ldmatrix and stmatrix of elements of 4, 6 and 8 bits (PTX ISA, 9.7.14.5.15 and .16).

#include <fmt/format.h>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class NarrowMoveTest : public LaunchTest {
 protected:
  NarrowMoveTest() { device = parse_device("b200"); }

  static constexpr int row_bytes = 16;

  static std::uint8_t byte_of(int index) { return static_cast<std::uint8_t>(index * 73 + 5); }

  std::string kernel(const std::string& body) {
    const std::string text = entry(".param .u64 x, .param .u64 y", R"(
      .shared .align 128 .b8 data[512];
      .reg .b64 %rd<4>; .reg .b32 %r<24>;
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      mov.u32 %r0, %tid.x;
      mul.wide.u32 %rd3, %r0, 16;
      add.u64 %rd1, %rd1, %rd3;
      add.u64 %rd2, %rd2, %rd3;
      mov.u32 %r1, data;
      shl.b32 %r2, %r0, 4;
      add.u32 %r1, %r1, %r2;
      ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];
      mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
)" + body + "st.global.v4.u32 [%rd2], {%r8, %r9, %r10, %r11};\nret;");
    return std::string(text).replace(0, text.find(".address_size"),
                                     ".version 8.8\n.target sm_100a\n");
  }

  static std::string registers(int count, int first) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}%r{}", i == 0 ? "" : ", ", first + i);
    return "{" + text + "}";
  }

  std::vector<std::uint8_t> moved(const std::string& body) {
    std::vector<std::uint8_t> bytes(512);
    for (int i = 0; i < 512; ++i) bytes[static_cast<std::size_t>(i)] = byte_of(i);
    const std::uint64_t x = array(bytes), y = memory.allocate(512);
    expect_none(run(kernel(body), {1, 1, 1}, {32, 1, 1}, {x, y}));
    return values<std::uint8_t>(y, 512);
  }
  std::vector<std::uint8_t> loaded(const std::string& form, int count) {
    SCOPED_TRACE(form);
    return moved(
        "st.shared.v4.u32 [%r1], {%r4, %r5, %r6, %r7};\nbar.sync 0;\nldmatrix.sync.aligned." +
        form + " " + registers(count, 8) + ", [%r1];\n");
  }

  /// Element i of the row that a lane provides.
  static std::uint8_t element(int row, int i, int bits) {
    std::uint32_t value = 0;
    for (int bit = 0; bit < bits; ++bit) {
      const int at = i * bits + bit;
      value |= (byte_of(row * row_bytes + at / 8) >> (at % 8) & 1u) << bit;
    }
    return static_cast<std::uint8_t>(value);
  }
};

TEST_F(NarrowMoveTest, LoadsRowsOf4And6Bits) {
  for (const int bits : {4, 6}) {
    const char* const source = bits == 4 ? "b4x16_p64" : "b6x16_p32";
    for (const int count : {1, 2, 4}) {
      const auto found = loaded(fmt::format("m8n16.x{}.shared.b8x16.{}", count, source), count);
      for (int i = 0; i < 32 * 4 * count; ++i) {
        const int matrix = i / 128, lane = i % 128 / 4, byte = i % 4;
        EXPECT_EQ(found[static_cast<std::size_t>(lane * 16 + matrix * 4 + byte)],
                  element(8 * matrix + lane / 4, lane % 4 * 4 + byte, bits))
            << bits << ", " << i;
      }
    }
  }
}

TEST_F(NarrowMoveTest, LoadsColumnsOf16By16) {
  for (const int bits : {4, 6, 8}) {
    const char* const source = bits == 4 ? "b8x16.b4x16_p64" : bits == 6 ? "b8x16.b6x16_p32" : "b8";
    for (const int count : {1, 2}) {
      const auto found =
          loaded(fmt::format("m16n16.x{}.trans.shared.{}", count, source), 2 * count);
      for (int i = 0; i < 32 * 4 * 2 * count; ++i) {
        const int reg = i / 128, lane = i % 128 / 4, byte = i % 4;
        const int row = reg / 2 * 16 + lane % 4 * 4 + byte, column = lane / 4 + reg % 2 * 8;
        EXPECT_EQ(found[static_cast<std::size_t>(lane * 16 + reg * 4 + byte)],
                  element(row, column, bits))
            << bits << ", " << i;
      }
    }
  }
}

TEST_F(NarrowMoveTest, StoresColumnsOfBytes) {
  for (const int count : {1, 2, 4}) {
    // Each lane then reads a row of the result.
    const auto found =
        moved("st.shared.v4.u32 [%r1], {%r8, %r8, %r8, %r8};\nbar.sync 0;\n" +
              fmt::format("stmatrix.sync.aligned.m16n8.x{}.trans.shared.b8 [%r1], {};\n", count,
                          registers(count, 4)) +
              "bar.sync 0;\nld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r1];\n");
    for (int i = 0; i < 32 * 16; ++i) {
      const int row = i / 16, column = i % 16;
      const int lane = column % 8 * 4 + row % 8 / 2, byte = row % 2 + column / 8 * 2;
      EXPECT_EQ(found[static_cast<std::size_t>(i)],
                row < 8 * count ? byte_of(lane * 16 + row / 8 * 4 + byte) : 0)
          << count << ", " << i;
    }
  }
}

}  // namespace
}  // namespace rung::vgpu
