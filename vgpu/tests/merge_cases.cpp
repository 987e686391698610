#include "vgpu/tests/merge_cases.hpp"

namespace rung::vgpu::merge_tests {
namespace {

using std::to_string;

/// Loads to %f1, %f2, … (or starting with `first`), from these offsets of `base`.
std::string load(const std::vector<int>& offsets, int first = 1, const std::string& base = "%r3") {
  std::string text;
  for (const int offset : offsets) {
    text +=
        "ld.shared.f32 %f" + to_string(first++) + ", [" + base + "+" + to_string(offset) + "];\n";
  }
  return text;
}

std::string store(const std::vector<int>& offsets, int first = 1, const std::string& base = "%r3") {
  std::string text;
  for (const int offset : offsets) {
    text +=
        "st.shared.f32 [" + base + "+" + to_string(offset) + "], %f" + to_string(first++) + ";\n";
  }
  return text;
}

/// Reads %f1 to %fcount.
std::string use(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += "fma.rn.f32 %f0, %f0, 0f40400000, %f" + to_string(i) + ";\n";
  }
  return text;
}

std::string load_halves(int count, int first = 0) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += "ld.shared.u16 %h" + to_string(i + 1) + ", [%r3+" + to_string(2 * i) + "];\n";
  }
  return text;
}

std::string use_halves(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    const std::string number = to_string(i);
    text += "cvt.f32.f16 %f" + number + ", %h" + number + ";\n";
  }
  return text + use(count);
}

std::string use_integers(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    const std::string number = to_string(i), reg = "%r" + to_string(20 + i);
    text += "cvt.u32.u16 " + reg + ", %h" + number + ";\nmad.lo.s32 %r10, %r10, 7, " + reg + ";\n";
  }
  return text;
}

/// Loads from 0 and 4, `something`, loads from 8 and 12.
std::string between(const std::string& something) {
  return load({0, 4}) + something + "\n" + load({8, 12}, 3) + use(4);
}

std::string between_stores(const std::string& something) {
  return store({0, 4}) + something + "\n" + store({8, 12}, 3);
}

std::vector<MergeCase> load_cases() {
  return {
      {"two", load({0, 4}) + use(2), {{8}, {}}},
      {"four", load({0, 4, 8, 12}) + use(4), {{16}, {}}},
      {"from the last to the first", load({12, 8, 4, 0}) + use(4), {{16}, {}}},
      {"three of four", load({0, 4, 12}) + use(3), {{16}, {}}},
      {"two that are no neighbours", load({0, 8}) + use(2), {{4, 4}, {}}},
      {"two halves of different pairs", load({4, 8}) + use(2), {{4, 4}, {}}},
      {"eight from the second on",
       load({4, 8, 12, 16, 20, 24, 28, 32}) + use(8),
       {{16, 16, 4}, {}}},
      {"two windows in turn", load({0, 16, 4, 20, 8, 24, 12, 28}) + use(8), {{16, 16}, {}}},
      {"aligned to 8", load({0, 4, 8, 12}) + use(4), {{8, 8}, {}}, 3},
      {"aligned to 8, three", load({4, 8, 12}) + use(3), {{8, 4}, {}}, 3},
      {"aligned to 4", load({0, 4, 8, 12}) + use(4), {{4, 4, 4, 4}, {}}, 2},
      {"unknown alignment", load({0, 4, 8, 12}, 1, "%r9") + use(4), {{4, 4, 4, 4}, {}}},
      {"the same twice", load({0, 4, 0, 4}) + use(4), {{8}, {}}},
      {"one that nobody reads", load({0, 4, 8}) + use(2), {{8}, {}}},
      {"by a second sum",
       "add.s32 %r20, %r3, 8;\n" + load({0, 4}) + load({0, 4}, 3, "%r20") + use(4),
       {{16}, {}}},
      {"by the same sum again",
       "add.s32 %r20, %r1, %r2;\n" + load({0, 4}) + load({8, 12}, 3, "%r20") + use(4),
       {{16}, {}}},
      {"by the array alone", load({0, 4, 8, 12}, 1, "S") + use(4), {{16}, {}}},
      {"by the array alone, shifted", load({4, 8, 12, 16}, 1, "S") + use(4), {{16, 4}, {}}},
      {"by a register that changes",
       load({0, 4}) + "add.s32 %r3, %r3, 16;\n" + load({-8, -4}, 3) + use(4),
       {{16}, {}}},
      {"by a register that changes its meaning",
       load({0, 4}) + "mov.u32 %r3, %r4;\n" + load({8, 12}, 3) + use(4),
       {{8, 8}, {}}},
      {"by a multiple",
       "mad.lo.s32 %r20, %r0, 48, %r2;\n" + load({0, 4, 8, 12}, 1, "%r20") + use(4),
       {{16}, {}}},
      {"by a mask",
       "and.b32 %r20, %r9, -16;\nadd.s32 %r20, %r20, %r2;\n" + load({0, 4, 8, 12}, 1, "%r20") +
           use(4),
       {{16}, {}}},
      {"by or", "or.b32 %r20, %r1, 4096;\n" + load({0, 4, 8, 12}, 1, "%r20") + use(4), {{16}, {}}},
      {"by a choice",
       "add.s32 %r20, %r3, 1024;\nselp.b32 %r20, %r20, %r3, %p1;\n" +
           load({0, 4, 8, 12}, 1, "%r20") + use(4),
       {{16}, {}}},
      {"before the array's sum", load({-16, -12, -8, -4}, 1, "%r3") + use(4), {{16}, {}}},
      {"by two sums in turn",
       load({0}, 1) + load({0}, 5, "%r4") + load({4}, 2) + load({4}, 6, "%r4") + load({8, 12}, 3) +
           load({8, 12}, 7, "%r4") + use(8),
       {{16, 16}, {}}},
      {"u32 and f32",
       "ld.shared.u32 %r20, [%r3];\n" + load({4}) + "cvt.rn.f32.u32 %f2, %r20;\n" + use(2),
       {{8}, {}}},
      {"a double and two floats",
       "ld.shared.f64 %d1, [%r3];\n" + load({8, 12}) + "cvt.rn.f32.f64 %f3, %d1;\n" + use(3),
       {{8, 8}, {}}},
      {"doubles",
       "ld.shared.f64 %d1, [%r3];\nld.shared.f64 %d2, [%r3+8];\n"
       "ld.shared.f64 %d3, [%r3+16];\nfma.rn.f64 %d0, %d1, %d2, %d3;\n",
       {{16, 8}, {}}},
      {"halves", load_halves(4) + use_halves(4), {{8}, {}}},
      {"eight halves", load_halves(8) + use_halves(8), {{8, 8}, {}}},
      {"five halves", load_halves(5) + use_halves(5), {{8, 2}, {}}},
      {"halves as integers", load_halves(4) + use_integers(4), {{2, 2, 2, 2}, {}}},
      {"two halves as integers",
       load_halves(2) + use_halves(2) +
           "ld.shared.u16 %h3, [%r3+4];\ncvt.u32.u16 %r20, %h3;\nmad.lo.s32 %r10, %r20, 7, %r20;\n",
       {{4, 2}, {}}},
      {"bytes",
       "ld.shared.u8 %h1, [%r3];\nld.shared.u8 %h2, [%r3+1];\n" + use_integers(2),
       {{1, 1}, {}}},
      {"vectors of halves",
       "ld.shared.v2.u16 {%h1, %h2}, [%r3];\n"
       "ld.shared.v2.u16 {%h3, %h4}, [%r3+4];\nld.shared.v2.u16 {%h5, %h6}, [%r3+8];\n" +
           use_halves(6),
       {{16}, {}}},
      {"longer vectors of halves",
       "ld.shared.v4.u16 {%h1, %h2, %h3, %h4}, [%r3];\n"
       "ld.shared.v4.u16 {%h5, %h6, %h7, %h8}, [%r3+8];\n" +
           use_halves(8),
       {{16}, {}}},
      {"a vector of halves and halves",
       "ld.shared.v2.u16 {%h1, %h2}, [%r3];\n" + load_halves(2, 2) + use_halves(4),
       {{4, 4}, {}}},
      {"vectors",
       "ld.shared.v2.f32 {%f1, %f2}, [%r3];\nld.shared.v2.f32 {%f3, %f4}, [%r3+8];\n" + use(4),
       {{16}, {}}},
      {"a vector and its neighbours",
       "ld.shared.v2.f32 {%f1, %f2}, [%r3];\n" + load({8, 12}, 3) + use(4),
       {{16}, {}}},
      {"three of a vector", "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n" + use(3), {{16}, {}}},
      {"two of a vector", "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n" + use(2), {{8}, {}}},
      {"the ends of a vector",
       "ld.shared.v4.f32 {%f1, %f3, %f4, %f2}, [%r3];\n" + use(2),
       {{4, 4}, {}}},
      {"a vector tells the alignment",
       load({16, 20, 24, 28}, 5) + "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n" + use(8),
       {{16, 16}, {}},
       2},
      {"a global store between", between("st.global.u32 [%rd2+4], %r9;"), {{16}, {}}},
      {"a global atomic between", between("red.global.add.u32 [%rd2+16], 1;"), {{16}, {}}},
      {"a shuffle between", between("shfl.sync.bfly.b32 %r10, %r9, 1, 31, -1;"), {{16}, {}}},
      {"a commit between", between("cp.async.commit_group;"), {{16}, {}}},
      {"a shared store between", between("st.shared.u32 [%r3+64], %r9;"), {{8, 8}, {4}}},
      {"a guarded shared store between", between("@%p1 st.shared.u32 [%r2], %r9;"), {{8, 8}, {4}}},
      {"a generic store between", between("st.u32 [%rd2+4], %r9;"), {{8, 8}, {}}},
      {"a shared atomic between", between("atom.shared.add.u32 %r10, [%r2], 1;"), {{8, 8}, {}}},
      {"a barrier between", between("bar.sync 0;"), {{8, 8}, {}}},
      {"a barrier of the warp between", between("bar.warp.sync -1;"), {{8, 8}, {}}},
      {"a fence between", between("membar.cta;"), {{8, 8}, {}}},
      {"a wait between", between("cp.async.wait_all;"), {{8, 8}, {}}},
      {"volatile",
       "ld.volatile.shared.f32 %f1, [%r3];\nld.volatile.shared.f32 %f2, [%r3+4];\n" + use(2),
       {{4, 4}, {}}},
      {"guarded",
       "@%p1 ld.shared.f32 %f1, [%r3];\n@%p1 ld.shared.f32 %f2, [%r3+4];\n" + use(2),
       {{4, 4}, {}}},
  };
}

std::vector<MergeCase> store_cases() {
  return {
      {"store two", store({0, 4}), {{}, {8}}},
      {"store four", store({0, 4, 8, 12}), {{}, {16}}},
      {"store four, mixed", store({8, 0, 12, 4}), {{}, {16}}},
      {"store three of four", store({0, 4, 12}), {{}, {8, 4}}},
      {"store across", store({4, 8, 12, 16, 20, 24, 28, 32}), {{}, {16, 8, 4, 4}}},
      {"store aligned to 8", store({0, 4, 8, 12}), {{}, {8, 8}}, 3},
      {"store aligned to 4", store({0, 4}), {{}, {4, 4}}, 2},
      {"store twice", store({0, 4, 0, 4}), {{}, {8}}},
      {"store two windows in turn", store({0, 16, 4, 20}), {{}, {4, 4, 4, 4}}},
      {"store in pairs in turn", store({0, 4, 16, 20, 8, 12}), {{}, {8, 8, 8}}},
      {"store by two sums in turn",
       store({0}) + store({0}, 3, "%r4") + store({4}, 2) + store({4}, 4, "%r4"),
       {{}, {4, 4, 4, 4}}},
      {"store by one sum, then another", store({0, 4}) + store({0, 4}, 3, "%r4"), {{}, {8, 8}}},
      {"store vectors",
       "st.shared.v2.f32 [%r3], {%f1, %f2};\nst.shared.v2.f32 [%r3+8], {%f3, %f4};\n",
       {{}, {16}}},
      {"store two and a vector",
       store({0, 4}) + "st.shared.v2.f32 [%r3+8], {%f3, %f4};\n",
       {{}, {16}}},
      {"store a vector and two",
       "st.shared.v2.f32 [%r3], {%f1, %f2};\n" + store({8, 12}, 3),
       {{}, {8, 4, 4}}},
      {"store one, a vector, one",
       store({0}) + "st.shared.v2.f32 [%r3+8], {%f3, %f4};\n" + store({4}, 2),
       {{}, {16}}},
      {"store doubles", "st.shared.f64 [%r3], %d1;\nst.shared.f64 [%r3+8], %d2;\n", {{}, {16}}},
      {"store two and a double", store({0, 4}) + "st.shared.f64 [%r3+8], %d1;\n", {{}, {8, 8}}},
      {"store halves",
       "st.shared.u16 [%r3], %h1;\nst.shared.u16 [%r3+2], %h2;\n"
       "st.shared.u16 [%r3+4], %h3;\nst.shared.u16 [%r3+6], %h4;\n",
       {{}, {8}}},
      {"store bytes", "st.shared.u8 [%r3], %h1;\nst.shared.u8 [%r3+1], %h2;\n", {{}, {1, 1}}},
      {"store around a global load",
       between_stores("ld.global.u32 %r10, [%rd2+5000];"),
       {{}, {16}}},
      {"store around a global store",
       between_stores("st.global.u32 [%rd2+5000], %r9;"),
       {{}, {16}}},
      {"store around a shared load",
       between_stores("ld.shared.u32 %r10, [%r2+5000];"),
       {{4}, {8, 8}}},
      {"store around a generic load", between_stores("ld.u32 %r10, [%rd2+5000];"), {{}, {8, 8}}},
      {"store around a store elsewhere",
       between_stores("st.shared.u32 [%r2+5000], %r9;"),
       {{}, {8, 8, 4}}},
      {"store around a barrier", between_stores("bar.sync 0;"), {{}, {8, 8}}},
      {"store guarded",
       "@%p1 st.shared.f32 [%r3], %f1;\n@%p1 st.shared.f32 [%r3+4], %f2;\n",
       {{}, {4, 4}}},
  };
}

}  // namespace

std::string kernel_of(const MergeCase& merge_case, const std::string& name) {
  std::string text =
      ".visible .entry " + name +
      "(.param .u64 p, .param .u32 q)\n{\n"
      ".reg .b32 %r<40>; .reg .f32 %f<20>; .reg .f64 %d<20>; .reg .b64 %rd<20>;\n"
      ".reg .b16 %h<20>; .reg .pred %p<4>;\n.shared .align 16 .b8 S[8192];\n"
      "ld.param.u64 %rd0, [p];\nld.param.u32 %r9, [q];\nmov.u32 %r0, %tid.x;\n"
      "shl.b32 %r1, %r0, " +
      to_string(merge_case.index_shift) +
      ";\n"
      "mov.u32 %r2, S;\nadd.s32 %r3, %r2, %r1;\n"
      "shl.b32 %r4, %r9, 4;\nadd.s32 %r4, %r4, %r2;\n"
      "cvta.to.global.u64 %rd1, %rd0;\nmul.wide.u32 %rd3, %r0, 8;\n"
      "add.s64 %rd2, %rd1, %rd3;\nsetp.gt.u32 %p1, %r9, 77;\n"
      "mov.f32 %f0, 0f00000000;\nmov.f64 %d0, 0d0000000000000000;\nmov.u32 %r10, 0;\n";
  for (int i = 1; i <= 8; ++i) {
    const auto load_global = [&](const std::string& reg, int at) {
      return reg + to_string(i) + ", [%rd2+" + to_string(4096 * i + at) + "];\n";
    };
    text += "ld.global.f32 " + load_global("%f", 0) + "ld.global.u16 " + load_global("%h", 2048);
    if (i <= 4) text += "ld.global.f64 " + load_global("%d", 1024);
  }
  return text + merge_case.body +
         "st.global.f32 [%rd2], %f0;\nst.global.f64 [%rd2+64], %d0;\nst.global.u32 [%rd2+128], "
         "%r10;\n"
         "ret;\n}\n";
}

const std::vector<MergeCase>& merge_cases() {
  static const std::vector<MergeCase> cases = [] {
    std::vector<MergeCase> all = load_cases();
    const std::vector<MergeCase> stores = store_cases();
    all.insert(all.end(), stores.begin(), stores.end());
    return all;
  }();
  return cases;
}

const std::vector<MergeCase>& mistaken_cases() {
  static const std::vector<MergeCase> cases = {
      {"a load of what was just stored", store({0}) + load({0}, 2) + use(2), {{4}, {4}}},
      {"a guarded load among others",
       load({0, 4}) + "@%p1 ld.shared.f32 %f3, [%r3+8];\n" + load({12}, 4) + use(4),
       {{16, 4}, {}}},
  };
  return cases;
}

}  // namespace rung::vgpu::merge_tests
