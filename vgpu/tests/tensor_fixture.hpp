#pragma once
// A kernel that multiplies by tcgen05.mma, in every kind and layout, and plain sums to compare it with; steps of the
// kernel can be replaced.

#include <fmt/format.h>

#include <array>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/engine/tensor_memory/zero_columns.hpp"
#include "vgpu/model/tensor_memory_ops.hpp"
#include "vgpu/tests/async_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"

namespace rung::vgpu::tensor_tests {

/// An element type: its bits, and its code in the instruction descriptor.
struct Type {
  const char* name;
  int bits, exponent_bits, mantissa_bits;  // exponent_bits 0: integer
  unsigned code;

  std::uint32_t encode(double value) const {
    if (exponent_bits == 0) return static_cast<std::uint32_t>(static_cast<int>(value)) & 0xFF;
    if (bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    static std::map<std::pair<std::string, double>, std::uint32_t> known;
    if (const auto found = known.find({name, value}); found != known.end()) return found->second;
    for (std::uint32_t pattern = 0; pattern < 1u << bits; ++pattern) {
      if (matrix_tests::decode_float(pattern, exponent_bits, mantissa_bits) == value) {
        return known[{name, value}] = pattern;
      }
    }
    ADD_FAILURE() << value << " is no " << name;
    return 0;
  }
};
constexpr Type f16{"f16", 16, 5, 10, 0}, bf16{"bf16", 16, 8, 7, 1}, tf32{"tf32", 32, 8, 23, 2};
constexpr Type e4m3{"e4m3", 8, 4, 3, 0}, e5m2{"e5m2", 8, 5, 2, 1}, e2m3{"e2m3", 6, 2, 3, 3};
constexpr Type e3m2{"e3m2", 6, 3, 2, 4}, e2m1{"e2m1", 4, 2, 1, 5}, packed_e2m1{"e2m1", 4, 2, 1, 1};
constexpr Type u8{"u8", 8, 0, 0, 0}, s8{"s8", 8, 0, 0, 1};

/// Where chunks of 16 bytes of a matrix are, in the canonical layouts (PTX ISA, 9.7.16.10.6).
struct TileLayout {
  int span;         // bytes of the swizzle; 0: none
  bool transposed;  // MN-major
  int start;        // bytes
  bool has_atoms_of_32;
  int skipped =
      0;  // bytes of each line before the first element; those after its end are in a second buffer
  int leading = 0, stride = 0, bytes = 0;

  TileLayout(int span_, bool transposed_, int start_, int lines, int row_bytes, int line_bytes,
             bool has_atoms_of_32_ = false)
      : span(span_), transposed(transposed_), start(start_), has_atoms_of_32(has_atoms_of_32_) {
    const int groups = (lines + 7) / 8;
    if (!transposed) {
      stride = span != 0 ? 8 * span : 8 * row_bytes;
      leading = span != 0 ? 16 : 128;
      bytes = groups * stride;
    } else if (span != 0) {
      stride = has_atoms_of_32 ? 1536 : 8 * span;  // the next 8 steps of k, or 4, with a gap
      leading = line_bytes * span;
      if (has_atoms_of_32) leading = line_bytes / 4 * stride;
      bytes = (lines * row_bytes / line_bytes + span - 1) / span * leading + 1024;
    } else {
      leading = 128;
      stride = (line_bytes + 7) / 8 * 128;
      bytes = lines * row_bytes / line_bytes / 16 * stride + 1024;
    }
    bytes = (bytes + 1023) / 1024 * 1024;
  }
  int offset(int across, int unit) const {
    unit += skipped / 16;
    if (skipped != 0 && unit >= span / 16) {
      return leading - start + offset(across, unit - span / 16 - skipped / 16);
    }
    int at = 0;
    if (!transposed && span == 0) at = across % 8 * 16 + across / 8 * stride + unit * leading;
    if (!transposed && span != 0) at = across % 8 * span + across / 8 * stride + unit * 16;
    if (transposed && span == 0) at = across % 8 * 16 + across / 8 * leading + unit * stride;
    if (transposed && span != 0) {
      const int lines = has_atoms_of_32 ? 4 : 8;
      at = across % lines * span + across / lines * stride + unit % (span / 16) * 16 +
           unit / (span / 16) * leading;
    }
    const int line_of_128 = at / 128;
    if (has_atoms_of_32) return start + (at ^ line_of_128 % 4 * 32);
    if (span != 0) at ^= line_of_128 % (span / 16) * 16;
    return start + at;
  }
  std::uint64_t descriptor() const {
    const std::uint64_t mode = has_atoms_of_32 ? 1
                               : span == 128   ? 2
                               : span == 64    ? 4
                               : span == 32    ? 6
                                               : 0;
    const std::uint64_t absolute = skipped != 0 ? std::uint64_t{1} << 52 : 0;
    return absolute | static_cast<std::uint64_t>((start + skipped) >> 4) |
           static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | std::uint64_t{1} << 46 | mode << 61;
  }
};

struct MultiplyCase {
  std::string kind;
  Type a, b;
  int m = 128, n = 64, k = 16;
  int span = 128;
  bool transpose_a = false, transpose_b = false;
  unsigned d_code = 1;  // 0: f16, 1: f32, 2: s32
  bool a_in_tensor_memory = false;
  int scales = 0;  // of a row of A along k
  bool weight_stationary = false;
  bool sparse = false;
  int selector = 0;  // of the metadata's column
  bool shifts_a = false;
  std::uint64_t zero_columns = 0;  // descriptor; 0: no operand
  int first_scale = 0;             // byte of the first scale of a line

  int shift() const { return static_cast<int>(zero_columns >> 56 & 0x3F); }
  int k_of_a() const { return sparse ? k / 2 : k; }
  /// The lane of row i of A in tensor memory, of its metadata, and of D's first columns (PTX ISA, 9.7.16.10.5).
  int lane_of(int i) const { return m == 64 && !weight_stationary ? i / 16 * 32 + i % 16 : i; }
  bool has_nibbles() const { return kind == "mxf4" || kind == "mxf4nvf4"; }
};

/// The parts of the kernel, which mutants replace.
struct Steps {
  std::string allocate = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;\n";
  std::string relinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  std::string commit =
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n";
  std::string parity = "0";
  bool waits = true;
  std::string load_wait = "tcgen05.wait::ld.sync.aligned;\n";
  std::string store_wait = "tcgen05.wait::st.sync.aligned;\n";
  std::string meet = "bar.sync 0;\n";
  std::string release = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 512;\n";
  std::string before_load, after_multiply, load_guard;
  int lane_step = 32;                    // lanes between the warps' addresses
  std::uint64_t a_flip = 0, b_flip = 0;  // bits of descriptors that change
  std::uint32_t form_flip = 0;
};

class TensorMemoryTest : public AsyncTest {
 protected:
  TensorMemoryTest() { device = parse_device("b200"); }

  std::mt19937 random{11};
  std::vector<double> a, b, c;
  std::vector<std::uint8_t> image;
  using Scales = std::vector<std::array<double, 6>>;
  Scales scales_a, scales_b;

  double value(const Type& type) {
    if (type.exponent_bits == 0) {
      return type.code == 0 ? static_cast<int>(random() % 256)
                            : static_cast<int>(random() % 256) - 128;
    }
    constexpr double values[] = {0, 0.5, 1, 1.5, 2, 3};
    return values[random() % 6] * (random() % 2 == 0 ? 1 : -1);
  }

  void place(const TileLayout& layout, const Type& type, const MultiplyCase& each, int line, int k,
             double x) {
    const bool nibbles = each.has_nibbles();
    const int per_chunk = nibbles ? 32 : 128 / std::max(8, type.bits);
    const int along = layout.transposed ? line : k, across = layout.transposed ? k : line;
    const int at = layout.offset(across, along / per_chunk);
    const std::uint32_t bits = type.encode(x);
    for (int i = 0; i < type.bits; ++i) {
      const int bit = along % per_chunk * type.bits + i;
      image[static_cast<std::size_t>(at + bit / 8)] |=
          static_cast<std::uint8_t>((bits >> i & 1) << (bit % 8));
    }
  }

  static std::uint32_t form(const MultiplyCase& each) {
    std::uint32_t bits = each.a.code << 7 | each.b.code << 10 | (each.transpose_a ? 1u << 15 : 0) |
                         (each.transpose_b ? 1u << 16 : 0) |
                         static_cast<std::uint32_t>(each.n / 8) << 17 |
                         static_cast<std::uint32_t>(each.m / 16) << 24;
    if (each.scales == 0) bits |= each.d_code << 4;
    if (each.scales != 0 && each.scales < 4) bits |= 1u << 23;  // e8m0
    const auto first_scale = static_cast<std::uint32_t>(each.first_scale);
    if (each.scales != 0) bits |= first_scale << 4 | first_scale << 29;
    if (each.k == 96) bits |= 1u << 31;
    if (each.sparse) bits |= 1u << 2 | static_cast<std::uint32_t>(each.selector);
    return bits;
  }

  /// Registers are %t: the address; %r1: thread; %r2: warp.
  static std::string kernel(const MultiplyCase& each, const Steps& steps, const TileLayout& in_a,
                            const TileLayout& in_b, int bytes) {
    const std::string kind = "kind::" + each.kind;
    std::string multiply =
        fmt::format("tcgen05.mma{}{}.cta_group::1.", each.weight_stationary ? ".ws" : "",
                    each.sparse ? ".sp" : "");
    multiply += kind + (each.shifts_a ? ".ashift" : "");
    if (each.scales != 0) {
      multiply += each.k == 96 ? fmt::format(".block_scale.block{}", 96 / each.scales)
                               : fmt::format(".block_scale.scale_vec::{}X", each.scales);
    }
    multiply += fmt::format(" [%t], {}, %rd11{}, %r9", each.a_in_tensor_memory ? "[%r8]" : "%rd10",
                            each.sparse ? ", [%r14]" : "");
    if (each.scales != 0) multiply += ", [%r10], [%r11]";
    multiply += ", %p3";
    if (each.zero_columns != 0) multiply += fmt::format(", {:#x}", each.zero_columns);
    multiply += ";\n";
    const int columns = each.weight_stationary ? each.n * each.m / 128 : each.n;
    return entry(
        ".param .u64 image, .param .u64 out, .param .u64 in",
        fmt::format(
            ".shared .align 1024 .b8 data[{}];\n.shared .align 8 .b64 done;\n.shared .b32 slot;\n",
            bytes) +
            registers() + ".reg .b32 %t, %v<8>;\n" +
            fmt::format(R"(
      ld.param.u64 %rd1, [image];
      ld.param.u64 %rd2, [out];
      ld.param.u64 %rd3, [in];
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      mov.u32 %r4, data;
      shl.b32 %r3, %r1, 4;
      COPY: cvt.u64.u32 %rd5, %r3;
      add.u64 %rd6, %rd1, %rd5;
      ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd6];
      add.u32 %r5, %r4, %r3;
      st.shared.v4.u32 [%r5], {{%r20, %r21, %r22, %r23}};
      add.u32 %r3, %r3, 2048;
      setp.lt.u32 %p1, %r3, {};
      @%p1 bra COPY;
      setp.ne.u32 %p2, %r2, 0;
      @%p2 bra ALLOCATED;
      {}{}
      setp.ne.u32 %p4, %r1, 0;
      @%p4 bra ALLOCATED;
      mbarrier.init.shared.b64 [done], 1;
      ALLOCATED:
      fence.proxy.async;
      tcgen05.fence::before_thread_sync;
      bar.sync 0;
      tcgen05.fence::after_thread_sync;
      ld.shared.b32 %t, [slot];
      mul.lo.u32 %r6, %r2, {};
      shl.b32 %r6, %r6, 16;
      add.u32 %r7, %t, %r6;
      add.u32 %r8, %t, 256;
      add.u32 %r10, %t, 384;
      add.u32 %r11, %t, 448;
      add.u32 %r14, %t, 320;
      )",
                        bytes, steps.allocate, steps.relinquish, steps.lane_step) +
            // Cells of A or of block scales, column by column: in[column][thread].
            (each.a_in_tensor_memory || each.scales != 0 || each.sparse
                 ? fmt::format(R"(
      mul.wide.u32 %rd7, %r1, 4;
      add.u64 %rd7, %rd3, %rd7;
      mov.u32 %r12, 256;
      FILL: ld.global.b32 %v0, [%rd7];
      add.u32 %r13, %r7, %r12;
      tcgen05.st.sync.aligned.32x32b.x1.b32 [%r13], {{%v0}};
      add.u64 %rd7, %rd7, 512;
      add.u32 %r12, %r12, 1;
      setp.lt.u32 %p1, %r12, 512;
      @%p1 bra FILL;
      {}bar.sync 0;
      )",
                               steps.store_wait)
                 : std::string()) +
            fmt::format(R"(
      mov.u64 %rd10, {:#x};
      mov.u64 %rd11, {:#x};
      mov.u32 %r9, {:#x};
      setp.ne.u32 %p3, %r1, %r1;
      setp.ne.u32 %p4, %r1, 0;
      @%p4 bra ISSUED;
      {}{}{}ISSUED:
      )",
                        in_a.descriptor() ^ steps.a_flip, in_b.descriptor() ^ steps.b_flip,
                        form(each) ^ steps.form_flip, multiply, steps.commit,
                        steps.after_multiply) +
            (steps.waits ? wait_for("done", steps.parity, "1") : std::string()) +
            steps.before_load +
            fmt::format(R"(
      mul.wide.u32 %rd7, %r1, 4;
      add.u64 %rd7, %rd2, %rd7;
      mov.u32 %r12, 0;
      LOAD: add.u32 %r13, %r7, %r12;
      {}tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v0}}, [%r13];
      {}
      st.global.b32 [%rd7], %v0;
      add.u64 %rd7, %rd7, 512;
      add.u32 %r12, %r12, 1;
      setp.lt.u32 %p1, %r12, {};
      @%p1 bra LOAD;
      tcgen05.fence::before_thread_sync;
      {}
      @%p2 bra END;
      {}
      END: ret;)",
                        steps.load_guard, steps.load_wait, columns, steps.meet, steps.release));
  }

  LaunchReport run_case(const MultiplyCase& each, const Steps& steps = {}) {
    const int lines_a = each.m, lines_b = each.n + each.shift();
    const bool nibbles = each.has_nibbles();
    const auto row_bytes = [&](const Type& type) {
      return nibbles ? each.k / 2 : each.k * std::max(8, type.bits) / 8;
    };
    const int bytes_of_a = row_bytes(each.a) / (each.sparse ? 2 : 1);
    const bool is_tf32 = each.kind == "tf32";
    TileLayout in_a(each.span, each.transpose_a, 0, lines_a, bytes_of_a, each.k_of_a(),
                    is_tf32 && each.transpose_a);
    // 48 bytes of k cross the end of a line, and go on in another buffer (9.7.16.3.1.2).
    const auto cross = [&](TileLayout& in) {
      if (each.k != 96) return;
      in.skipped = 96;
      in.leading = in.start + in.bytes;
      in.bytes *= 2;
    };
    cross(in_a);
    TileLayout in_b(each.span, each.transpose_b, in_a.bytes, lines_b, row_bytes(each.b), each.k,
                    is_tf32 && each.transpose_b);
    cross(in_b);
    const int bytes = (in_a.bytes + in_b.bytes + 2047) / 2048 * 2048;
    image.assign(static_cast<std::size_t>(bytes), 0);
    a.assign(static_cast<std::size_t>(each.m * each.k), 0);
    b.assign(static_cast<std::size_t>(lines_b * each.k), 0);
    std::vector<std::uint32_t> cells(256 * 128, 0);
    for (int k = 0; k < each.k_of_a(); ++k) {
      for (int i = 0; i < each.m; ++i) {
        const double x = value(each.a);
        a[static_cast<std::size_t>(i * each.k + position(each, i, k, cells))] = x;
        if (!each.a_in_tensor_memory) {
          place(in_a, each.a, each, i, k, x);
        } else {
          const int per_cell = 32 / std::max(8, each.a.bits);
          cells[static_cast<std::size_t>(k / per_cell * 128 + each.lane_of(i))] |=
              each.a.encode(x) << (k % per_cell * (32 / per_cell));
        }
      }
    }
    for (int k = 0; k < each.k; ++k) {
      for (int j = 0; j < lines_b; ++j) {
        const double x = b[static_cast<std::size_t>(j * each.k + k)] = value(each.b);
        place(in_b, each.b, each, j, k, x);
      }
    }
    if (each.shifts_a) std::copy(a.begin() + each.k, a.end(), a.begin());
    fill_scales(each, 128, each.m, cells, scales_a);
    fill_scales(each, 192, each.n, cells, scales_b);
    out_ = array(std::vector<std::uint32_t>(256 * 128, 0));
    const std::uint64_t in = array(cells);
    return run(kernel(each, steps, in_a, in_b, bytes), {1, 1, 1}, {128, 1, 1},
               {array(image), out_, in});
  }

  /// The position of the k-th stored element of row i, which is k unless the matrix is sparse; records it in the metadata.
  int position(const MultiplyCase& each, int i, int k, std::vector<std::uint32_t>& cells) {
    if (!each.sparse) return k;
    // Two of four units, elements or pairs of 4 bits, are stored; for tf32, one of two elements.
    const bool is_tf32 = each.kind == "tf32";
    const int unit = each.has_nibbles() ? 2 : 1;
    const int stored = is_tf32 ? 1 : 2 * unit;
    const int chunk = k / stored;
    if (k % stored == 0) {
      constexpr int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      const auto& pair = pairs[is_tf32 ? random() % 2 * 5 : random() % 6];
      chosen_[static_cast<std::size_t>(i)] = {pair[0], pair[1]};
      record(each, i, chunk, static_cast<std::uint32_t>(pair[0] | pair[1] << 2), cells);
    }
    const auto& chosen = chosen_[static_cast<std::size_t>(i)];
    if (is_tf32) return 2 * chunk + chosen[0] / 2;
    return chunk * 4 * unit + chosen[static_cast<std::size_t>(k % stored / unit)] * unit + k % unit;
  }

  /// Puts the four bits of a chunk where CuTe's layouts of metadata state its elements to be (tmem_e_frg).
  static void record(const MultiplyCase& each, int m, int chunk, std::uint32_t bits,
                     std::vector<std::uint32_t>& cells) {
    int lane = m, bit = chunk * 4;
    if (each.kind == "f16" || each.kind == "tf32") {
      const int per_half = each.kind == "f16" ? 16 : 8;  // elements of k
      const int k = chunk * (each.kind == "f16" ? 4 : 2);
      const int offset =
          m % 8 + m / 8 % 2 * per_half * 128 + m / 16 * 16 + k % per_half * 128 + k / per_half * 8;
      lane = offset % 128;
      bit = offset / 128 * (each.kind == "f16" ? 1 : 2);
    }
    constexpr int first_column = 64;
    // With .ws, there is a copy for each part of D's columns (tmem_e_frg_ws).
    const int copies = each.weight_stationary ? 128 / each.m : 1;
    for (int copy = 0; copy < copies; ++copy) {
      const int column = first_column + each.selector + bit / 32;
      const int of_copy = each.lane_of(lane) + copy * each.m;
      cells[static_cast<std::size_t>(column * 128 + of_copy)] |= bits << (bit % 32);
    }
  }
  std::array<std::array<int, 2>, 256> chosen_{};  // by row

  /// Block scales of lines from this column of `cells` on, in all quarters of the lanes. Scales of k = 96 go on in the
  /// cells of the next 128 or 256 lines (Figures 234 to 258 of 9.7.16.10.7).
  void fill_scales(const MultiplyCase& each, int column, int lines,
                   std::vector<std::uint32_t>& cells, Scales& scales) {
    scales.assign(256, {1, 1, 1, 1, 1, 1});
    for (int line = 0; line < lines && each.scales != 0; ++line) {
      for (int i = 0; i < each.scales; ++i) {
        const auto step = static_cast<int>(random() % 4);  // 2^step
        scales[static_cast<std::size_t>(line)][static_cast<std::size_t>(i)] = 1 << step;
        const auto code =
            static_cast<std::uint32_t>(each.scales >= 4 ? (step + 7) << 3 : step + 127);
        const int byte = each.first_scale + i;
        const int of_line = column + line / 32 + byte / 4 * (lines <= 128 ? 4 : 8);
        for (int quarter = 0; quarter < 4; ++quarter) {
          cells[static_cast<std::size_t>(of_line * 128 + quarter * 32 + line % 32)] |=
              code << (byte % 4 * 8);
        }
      }
    }
  }

  double expected(const MultiplyCase& each, int i, int j) const {
    double sum = 0;
    if (zero_columns(each.zero_columns, each.m, each.n).is_zero[static_cast<std::size_t>(j)])
      return 0;
    j += each.shift();
    for (int k = 0; k < each.k; ++k) {
      double product =
          a[static_cast<std::size_t>(i * each.k + k)] * b[static_cast<std::size_t>(j * each.k + k)];
      if (each.scales != 0) {
        const auto part = static_cast<std::size_t>(k / (each.k / each.scales));
        product *= scales_a[static_cast<std::size_t>(i)][part] *
                   scales_b[static_cast<std::size_t>(j)][part];
      }
      sum += product;
    }
    return sum;
  }

  void check(const MultiplyCase& each) {
    SCOPED_TRACE(fmt::format("{} {} x {} m {} n {} span {}{}{}", each.kind, each.a.name,
                             each.b.name, each.m, each.n, each.span, each.transpose_a ? " A^T" : "",
                             each.transpose_b ? " B^T" : ""));
    const LaunchReport report = run_case(each);
    expect_none(report);
    EXPECT_EQ(report.counters.tensor_multiply_adds,
              static_cast<std::uint64_t>(each.m * each.n * each.k));
    const auto read_bytes = [&](const Type& type, int lines, int k) {
      return lines * k * (each.has_nibbles() ? 4 : std::max(8, type.bits)) / 8;
    };
    const int of_a = each.a_in_tensor_memory ? 0 : read_bytes(each.a, each.m, each.k_of_a());
    EXPECT_EQ(report.counters.tcgen05_shared_load_bytes,
              static_cast<std::uint64_t>(of_a + read_bytes(each.b, each.n, each.k)));
    const std::vector<std::uint32_t> cells = values<std::uint32_t>(out_, 256 * 128);
    int wrong = 0;
    for (int i = 0; i < each.m; ++i) {
      for (int j = 0; j < each.n; ++j) {
        int lane = each.lane_of(i), column = j;
        if (each.m < 128 && each.weight_stationary) {
          const int width = each.n * each.m / 128;
          lane = i + j / width * each.m;
          column = j % width;
        }
        const std::uint32_t cell = cells[static_cast<std::size_t>(column * 128 + lane)];
        const double is = each.d_code == 2   ? static_cast<std::int32_t>(cell)
                          : each.d_code == 0 ? matrix_tests::decode_float(cell & 0xFFFF, 5, 10)
                                             : std::bit_cast<float>(cell);
        const double wanted = expected(each, i, j);
        if (is != wanted && ++wrong < 4)
          ADD_FAILURE() << i << ", " << j << ": " << is << " for " << wanted;
      }
    }
    EXPECT_EQ(wrong, 0);
  }

  void expect_hazard(HazardKind kind, const Steps& steps,
                     const MultiplyCase& each = {"f16", f16, f16}) {
    const Hazard hazard = found(run_case(each, steps), kind);
    EXPECT_NE(hazard.message, "");
  }

  std::uint64_t out_ = 0;
};

}  // namespace rung::vgpu::tensor_tests
