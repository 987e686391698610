// wmma.load and wmma.store: products of matrices in memory, in every form; counters and errors.

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "vgpu/tests/launch_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"

namespace rung::vgpu::matrix_tests {
namespace {

const char* name_of(Element type) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8",
                                   "u8",  "s4",   "u4",   "f32",  "s32",  "f64"};
  return names[static_cast<int>(type)];
}

struct Shape {
  int m, n, k;
  Element factor, sum;
};

/// A matrix in memory: row-major or column-major, with a gap after each row or column.
struct Stored {
  int rows, columns;
  Element type;
  bool column_major;
  int gap;  // elements

  int stride() const { return (column_major ? rows : columns) + gap; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(stride() * (column_major ? columns : rows) *
                                    element_bits(type) / 8);
  }
  int index(int row, int column) const {
    return column_major ? column * stride() + row : row * stride() + column;
  }
  const char* layout() const { return column_major ? "col" : "row"; }
};

std::uint64_t bits_of(Element type, double value) {
  if (type == Element::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == Element::s32) return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  return encode(type, value);
}

double value_of(Element type, std::uint64_t bits) {
  if (type == Element::f64) return std::bit_cast<double>(bits);
  if (type == Element::s32) return static_cast<std::int32_t>(bits);
  return decode(type, static_cast<std::uint32_t>(bits));
}

std::vector<std::uint8_t> pack(const Stored& stored, Matrix matrix) {
  std::vector<std::uint8_t> bytes(stored.bytes());
  const int bits = element_bits(stored.type);
  for (int row = 0; row < stored.rows; ++row) {
    for (int column = 0; column < stored.columns; ++column) {
      const auto at = static_cast<std::size_t>(stored.index(row, column));
      const std::uint64_t value = bits_of(stored.type, matrix.at({row, column}));
      if (bits == 4) {
        bytes[at / 2] |= static_cast<std::uint8_t>((value & 15) << (at % 2 * 4));
      } else {
        std::memcpy(&bytes[at * static_cast<std::size_t>(bits) / 8], &value,
                    static_cast<std::size_t>(bits) / 8);
      }
    }
  }
  return bytes;
}

double element_at(const Stored& stored, const std::vector<std::uint8_t>& bytes, int row,
                  int column) {
  const auto size = static_cast<std::size_t>(element_bits(stored.type)) / 8;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &bytes[static_cast<std::size_t>(stored.index(row, column)) * size], size);
  return value_of(stored.type, bits);
}

/// The registers of a fragment, such as "{%a0, %a1}". They are declared once for all types.
std::string registers(char matrix, const WmmaLayout& layout) {
  const char* kind = layout.element == Element::f64   ? "d"
                     : layout.element == Element::f32 ? "f"
                                                      : "r";
  std::string list;
  for (int i = 0; i < layout.registers; ++i) {
    list += fmt::format("{}%{}{}{}", i == 0 ? "" : ", ", kind, matrix, i);
  }
  return "{" + list + "}";
}

struct Fragment {
  std::string mnemonic, registers;
};

Fragment fragment(const char* which, char matrix, const Shape& shape, const Stored& stored,
                  const std::string& space) {
  const std::string mnemonic =
      fmt::format("wmma.{}.sync.aligned.{}.m{}n{}k{}{}.{}", which, stored.layout(), shape.m,
                  shape.n, shape.k, space, name_of(stored.type));
  return {mnemonic, registers(matrix, wmma_layout(instruction(mnemonic)).value())};
}

/// Copies between p{i} and shared memory at s + 8192 i, byte by byte.
std::string copy(int i, std::size_t bytes, bool to_shared) {
  return fmt::format(R"(
    mov.u32 %r0, %tid.x;
  copy{0}:
    setp.ge.u32 %p0, %r0, {1};
    @%p0 bra done{0};
    cvt.u64.u32 %rd8, %r0;
    add.u64 %rd9, %rd{0}, %rd8;
    add.u32 %r1, %r0, s;
    {2}
    {3}
    add.u32 %r0, %r0, 32;
    bra copy{0};
  done{0}:
    bar.warp.sync -1;)",
                     i, bytes,
                     to_shared ? "ld.global.u8 %rs0, [%rd9];"
                               : fmt::format("ld.shared.u8 %rs0, [%r1 + {}];", 8192 * i),
                     to_shared ? fmt::format("st.shared.u8 [%r1 + {}], %rs0;", 8192 * i)
                               : "st.global.u8 [%rd9], %rs0;");
}

struct Operands {
  Stored a, b, c, d;
};

/// D = A * B + C, with the matrices in that state space (".global", ".shared", or "" for shared
/// memory through generic addresses).
std::string kernel(const Shape& shape, const Operands& in, const std::string& space) {
  const Fragment a = fragment("load.a", 'a', shape, in.a, space);
  const Fragment b = fragment("load.b", 'b', shape, in.b, space);
  const Fragment c = fragment("load.c", 'c', shape, in.c, space);
  const Fragment d = fragment("store.d", 'd', shape, in.d, space);
  const std::string sums = name_of(in.d.type);
  const std::string factor = name_of(in.a.type);
  const std::string types = in.a.type == Element::f16
                                ? fmt::format("{}.{}", sums, sums)
                                : fmt::format("{0}.{1}.{1}.{0}", sums, factor);
  std::string body = R"(
    .shared .align 32 .b8 s[32768];
    .reg .pred %p<1>; .reg .b16 %rs<1>; .reg .b32 %r<4>; .reg .b64 %rd<16>;
    .reg .b32 %ra<8>; .reg .b32 %rb<8>; .reg .b32 %rc<8>; .reg .b32 %rd_<8>;
    .reg .f32 %fc<8>; .reg .f32 %fd<8>; .reg .f64 %da<1>; .reg .f64 %db<1>; .reg .f64 %dc<2>;
    .reg .f64 %dd<2>;
    ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
    ld.param.u64 %rd2, [p2]; ld.param.u64 %rd3, [p3];)";
  const bool in_global = space == ".global";
  if (!in_global)
    body += copy(0, in.a.bytes(), true) + copy(1, in.b.bytes(), true) + copy(2, in.c.bytes(), true);
  for (int i = 0; i < 4; ++i) {
    body += in_global ? fmt::format("\n mov.u64 %rd{}, %rd{};", 4 + i, i)
                      : fmt::format("\n mov.u64 %rd{}, s; add.u64 %rd{}, %rd{}, {};", 4 + i, 4 + i,
                                    4 + i, 8192 * i);
    if (space.empty()) body += fmt::format("\n cvta.shared.u64 %rd{}, %rd{};", 4 + i, 4 + i);
  }
  const auto named = [](std::string text) {  // "%rd0" names an address register
    for (std::size_t at = 0; (at = text.find("%rd", at)) != std::string::npos; at += 4)
      text.insert(at + 3, "_");
    return text;
  };
  body += fmt::format("\n {} {}, [%rd4], {};", a.mnemonic, a.registers, in.a.stride());
  body += fmt::format("\n {} {}, [%rd5], {};", b.mnemonic, b.registers, in.b.stride());
  body += fmt::format("\n {} {}, [%rd6], {};", c.mnemonic, c.registers, in.c.stride());
  body += fmt::format("\n wmma.mma.sync.aligned.{}.{}.m{}n{}k{}.{} {}, {}, {}, {};", in.a.layout(),
                      in.b.layout(), shape.m, shape.n, shape.k, types, named(d.registers),
                      a.registers, b.registers, c.registers);
  body += fmt::format("\n {} [%rd7], {}, {};", d.mnemonic, named(d.registers), in.d.stride());
  if (!in_global) body += "\n bar.warp.sync -1;" + copy(3, in.d.bytes(), false);
  return entry(".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3", body + "\n ret;");
}

class WmmaMemory : public LaunchTest {
 protected:
  /// Expects that D is the product, with matrices stored as in `in`.
  void expect_product(const Shape& shape, const Operands& in, const std::string& space) {
    SCOPED_TRACE(fmt::format("m{}n{}k{} {} {} {} {} {}", shape.m, shape.n, shape.k,
                             name_of(shape.factor), name_of(shape.sum), in.a.layout(),
                             in.b.layout(), space));
    std::mt19937 random(11);
    const Matrix a = random_matrix(shape.m, shape.k, shape.factor, random);
    const Matrix b = random_matrix(shape.k, shape.n, shape.factor, random);
    const Matrix c = random_matrix(shape.m, shape.n, shape.sum, random);
    Matrix d = multiply_add(a, b, c);
    const std::uint64_t to = array(std::vector<std::uint8_t>(in.d.bytes(), 0));
    const LaunchReport report =
        run(kernel(shape, in, space), {1, 1, 1}, {32, 1, 1},
            {array(pack(in.a, a)), array(pack(in.b, b)), array(pack(in.c, c)), to});
    for (const Hazard& hazard : report.hazards) {
      // The gap is copied as well, although it was never written.
      if (hazard.kind != HazardKind::uninitialised_read) ADD_FAILURE() << hazard.message;
    }
    const auto bytes = values<std::uint8_t>(to, in.d.bytes());
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) ASSERT_EQ(element_at(in.d, bytes, i, j), d.at({i, j}));
    }
  }

  void expect_products(const Shape& shape, bool a_column, bool b_column) {
    const int factor_gap = 128 / element_bits(shape.factor),
              sum_gap = 128 / element_bits(shape.sum);
    const Operands in = {{shape.m, shape.k, shape.factor, a_column, factor_gap},
                         {shape.k, shape.n, shape.factor, b_column, factor_gap},
                         {shape.m, shape.n, shape.sum, a_column, sum_gap},
                         {shape.m, shape.n, shape.sum, b_column, sum_gap}};
    for (const char* space : {".global", ".shared", ""}) expect_product(shape, in, space);
  }
};

TEST_F(WmmaMemory, ProductsInEveryFormAndSpace) {
  using enum Element;
  for (const auto& [m, n] : {std::pair(16, 16), {32, 8}, {8, 32}}) {
    for (const auto& [factor, sum] :
         {std::pair(f16, f32), {f16, f16}, {bf16, f32}, {s8, s32}, {u8, s32}}) {
      for (int layouts = 0; layouts < 4; ++layouts) {
        expect_products({m, n, 16, factor, sum}, (layouts & 1) != 0, (layouts & 2) != 0);
      }
    }
  }
  for (int layouts = 0; layouts < 4; ++layouts) {
    expect_products({16, 16, 8, tf32, f32}, (layouts & 1) != 0, (layouts & 2) != 0);
    expect_products({8, 8, 4, f64, f64}, (layouts & 1) != 0, (layouts & 2) != 0);
  }
  expect_products({8, 8, 32, s4, s32}, false, true);
  expect_products({8, 8, 32, u4, s32}, false, true);
}

/// Loads a 16 x 16 row-major matrix A of f16 with this stride from `from`, which `before` computes.
std::string load_a(const char* space, int stride, const std::string& before,
                   const char* after = "") {
  return entry(".param .u64 p", fmt::format(R"(
    .shared .align 32 .b8 s[2048];
    .reg .b32 %r<8>; .reg .b64 %rd<2>;
    {}
    wmma.load.a.sync.aligned.row.m16n16k16.{}.f16 {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}}, [%rd0], {};
    {}
    ret;)",
                                            before, space, stride, after));
}
const char* const from_global = "ld.param.u64 %rd0, [p];";
const char* const from_shared = R"(
    mov.u64 %rd0, s; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 6; cvt.u64.u32 %rd1, %r0;
    add.u64 %rd1, %rd1, %rd0; mov.u32 %r1, 0;
    st.shared.v4.b32 [%rd1], {%r1, %r1, %r1, %r1}; st.shared.v4.b32 [%rd1 + 16], {%r1, %r1, %r1, %r1};
    st.shared.v4.b32 [%rd1 + 32], {%r1, %r1, %r1, %r1}; st.shared.v4.b32 [%rd1 + 48], {%r1, %r1, %r1, %r1};
    bar.warp.sync -1;)";

TEST_F(WmmaMemory, CountsWhatTheMachineCodeLoads) {
  const std::uint64_t matrix = array(std::vector<std::uint16_t>(1024, 0));
  const auto counters = [&](const std::string& text) {
    const LaunchReport report = run(text, {1, 1, 1}, {32, 1, 1}, {matrix});
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
    return report.counters;
  };
  // Four times 8 rows of 16 bytes, each in a separate sector.
  const Counters global = counters(load_a("global", 16, from_global));
  EXPECT_EQ(global.global_load_requests, 4u);
  EXPECT_EQ(global.global_load_sectors, 32u);
  // One ldmatrix of four matrices. Its rows collide in pairs; with padding, they do not.
  const Counters shared = counters(load_a("shared", 16, from_shared));
  EXPECT_EQ(shared.shared_load_requests, 1u);
  EXPECT_EQ(shared.issued_shared_load_requests, 1u);
  EXPECT_EQ(shared.shared_load_wavefronts, 8u);
  EXPECT_EQ(counters(load_a("shared", 24, from_shared)).shared_load_wavefronts, 4u);
}

TEST_F(WmmaMemory, HazardsAreThoseOfItsLoads) {
  const auto kind = [&](const std::string& text, std::uint64_t matrix) {
    const LaunchReport report = run(text, {1, 1, 1}, {32, 1, 1}, {matrix});
    return report.hazards.size() == 1 ? std::string(name(report.hazards[0].kind))
                                      : fmt::format("{} hazards", report.hazards.size());
  };
  const std::uint64_t matrix = array(std::vector<std::uint16_t>(256, 0));
  EXPECT_EQ(kind(load_a("global", 16, from_global), matrix), "0 hazards");
  EXPECT_EQ(kind(load_a("global", 24, from_global), matrix), "out of bounds");
  EXPECT_EQ(kind(load_a("global", 16, from_global), memory.allocate(512)), "uninitialised read");
  EXPECT_EQ(kind(load_a("global", 12, from_global), matrix), "misaligned access");
  const std::string half_a_warp = R"(
    ld.param.u64 %rd0, [p]; .reg .pred %q; mov.u32 %r0, %tid.x; setp.lt.u32 %q, %r0, 16; @!%q bra end;)";
  EXPECT_EQ(kind(load_a("global", 16, half_a_warp, "end:"), matrix), "absent participant");
  const char* const overwrite = "st.shared.b32 [%rd1], %r0;";
  EXPECT_EQ(kind(load_a("shared", 16, from_shared, overwrite), matrix), "shared-memory race");
}

TEST_F(WmmaMemory, LanesUnderAGuardAreCountedOnce) {
  const std::uint64_t matrix = array(std::vector<std::uint16_t>(256, 0));
  const std::string text =
      load_a("global", 16, "ld.param.u64 %rd0, [p]; .reg .pred %q; setp.eq.u64 %q, %rd0, 0;");
  std::string guarded = text;
  guarded.insert(guarded.find("wmma."), "@%q ");
  const LaunchReport report = run(guarded, {1, 1, 1}, {32, 1, 1}, {matrix});
  EXPECT_EQ(report.counters.global_load_requests, 0u);
  EXPECT_EQ(report.counters.thread_instructions, 32u * 3u);
}

}  // namespace
}  // namespace rung::vgpu::matrix_tests
