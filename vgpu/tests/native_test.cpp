// Translated code gives the same bits, counters and hazards as the handlers. vgpu_lane_tests
// compares the handlers themselves with references.

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/translate.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

/// Edge cases of all types, including NaN that PTX does not produce.
const std::vector<std::uint32_t> words = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
    0x3FC00000, 0x40490FDB, 0xC2F6E979, 0x4B7FFFFF, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001,
    0x4F7FFFFF, 0x4F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345,
    0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFE, 0x0000001F, 0x00000020, 0x00000021, 0x12345678, 0xDEADBEEF};

constexpr std::uint32_t threads = 1024;  // one for each pair of words

/// Each thread loads three words, and three pairs of words that start with them, runs `body`, and
/// stores %r, %d, %p and %q.
std::string text(const std::string& body) {
  std::string whole = entry(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %t, %a, %b, %c, %r, %x, %bit; .reg .b64 %in, %out, %at, %da, %db, %dc, %d;
    .reg .pred %p, %q, %odd;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 24; add.u64 %in, %in, %at;
    ld.global.v2.b32 {%a, %x}, [%in]; ld.global.b64 %da, [%in];
    ld.global.v2.b32 {%b, %x}, [%in+8]; ld.global.b64 %db, [%in+8];
    ld.global.v2.b32 {%c, %x}, [%in+16]; ld.global.b64 %dc, [%in+16];
    mov.b32 %r, 77; mov.b64 %d, 78; and.b32 %x, %t, 3; setp.lt.u32 %p, %x, 2; not.pred %q, %p;
    and.b32 %x, %t, 1; setp.eq.u32 %odd, %x, 1;
    BODY
    selp.b32 %bit, 1, 0, %p; selp.b32 %x, 2, 0, %q; or.b32 %bit, %bit, %x;
    mul.wide.u32 %at, %t, 16; add.u64 %out, %out, %at;
    st.global.b32 [%out], %r; st.global.b32 [%out+4], %bit; st.global.b64 [%out+8], %d;
    ret;)");
  const std::string mark = "BODY";
  return whole.replace(whole.find(mark), mark.size(), body);
}

class NativeTest : public LaunchTest {
 protected:
  void SetUp() override {
    if (!native::is_supported())
      GTEST_SKIP() << "this CPU has no AVX2, or there is no assembler for it";
  }

  /// Every pair of words, as %a and %b.
  static std::vector<std::uint32_t> input() {
    std::vector<std::uint32_t> in;
    const auto count = static_cast<std::uint32_t>(words.size());
    for (std::uint32_t t = 0; t < threads; ++t) {
      const std::uint32_t a = t % count, b = t / count;
      for (const std::uint32_t at : {a, 5 * t + 1, b, 3 * b + t, 7 * t + 3, b + 11 * a}) {
        in.push_back(words[at % count]);
      }
    }
    return in;
  }

  struct Outcome {
    std::vector<std::uint32_t> out;
    LaunchReport report;
    bool translated;
  };
  Outcome outcome(const std::string& module_text, bool native) {
    const std::uint64_t in = array(input()), out = array(std::vector<std::uint32_t>(threads * 4));
    options.native = native;
    options.threads = 1;
    Outcome result;
    result.report = run(module_text, {1, 1, 1}, {threads, 1, 1}, {in, out});
    result.out = values<std::uint32_t>(out, threads * 4);
    result.translated = !module->kernel("k")->native_code.empty();
    memory.free(in);
    memory.free(out);
    return result;
  }

  void expect_the_same(const std::string& body) {
    SCOPED_TRACE(body);
    const std::string module_text = text(body);
    const Outcome native = outcome(module_text, true), handlers = outcome(module_text, false);
    EXPECT_TRUE(native.translated);
    EXPECT_EQ(native.out, handlers.out);
    EXPECT_TRUE(native.report.counters == handlers.report.counters);
    EXPECT_EQ(native.report.hazards.size(), handlers.report.hazards.size());
  }

  /// Runs the operation in whole warps, in the odd lanes, and in the middle of a run that uses the
  /// result.
  void expect_the_same_everywhere(const std::string& operation) {
    expect_the_same(operation);
    expect_the_same("@!%odd bra over;\n" + operation + "\nover:");
    expect_the_same(operation + "\nxor.b32 %x, %r, %a; add.u32 %r, %x, %r; mov.b64 %dc, %d;" +
                    "add.u64 %d, %dc, %da; mov.b32 %a, %r; mov.b32 %b, %a;" + operation);
  }
};

TEST_F(NativeTest, WordsAreComputedAlike) {
  for (const std::string type : {"f32", "u32", "s32"}) {
    for (const std::string operation : {"add.", "sub.", "min.", "max."}) {
      expect_the_same_everywhere(operation + type + " %r, %a, %b;");
    }
  }
  for (const std::string operation :
       {"mul.f32", "mul.rn.f32", "mul.lo.u32", "mul.lo.s32", "mul.hi.u32", "mul.hi.s32", "and.b32",
        "or.b32", "xor.b32", "shl.b32", "shr.u32", "shr.s32", "div.rn.f32"}) {
    expect_the_same_everywhere(operation + " %r, %a, %b;");
  }
  for (const std::string operation :
       {"neg.f32",         "abs.f32",         "neg.s32",          "abs.s32",
        "not.b32",         "mov.b32",         "rcp.rn.f32",       "sqrt.rn.f32",
        "rcp.approx.f32",  "sqrt.approx.f32", "rsqrt.approx.f32", "ex2.approx.f32",
        "cvt.rni.f32.f32", "cvt.rzi.f32.f32", "cvt.rmi.f32.f32",  "cvt.rpi.f32.f32",
        "cvt.rn.f32.s32",  "cvt.rn.f32.u32",  "cvt.rzi.s32.f32",  "cvt.rzi.u32.f32",
        "cvt.u32.s32"}) {
    expect_the_same_everywhere(operation + " %r, %a;");
  }
  for (const std::string operation : {"fma.rn.f32", "mad.rn.f32", "mad.lo.u32", "mad.lo.s32"}) {
    expect_the_same_everywhere(operation + " %r, %a, %b, %c;");
    expect_the_same_everywhere(operation + " %r, %a, %r, %r;");
  }
  for (const std::string amount : {"0", "7", "31", "32", "300"}) {
    expect_the_same_everywhere("shl.b32 %r, %a, " + amount + "; shr.s32 %x, %b, " + amount +
                               "; shr.u32 %c, %c, " + amount + "; xor.b32 %r, %r, %x;");
  }
  expect_the_same_everywhere("lop3.b32 %r, %a, %b, %c, 0x96;");
  expect_the_same_everywhere("lop3.b32 %r, %a, %b, %c, 0x2D;");
  expect_the_same_everywhere("selp.f32 %r, %a, %b, %q;");
}

TEST_F(NativeTest, EachTableOfThreeOperandsIsTheSame) {
  std::string body;
  for (int table = 0; table < 256; ++table) {
    body += "lop3.b32 %x, %a, %b, %c, " + std::to_string(table) + "; mad.lo.u32 %r, %r, 31, %x;\n";
  }
  expect_the_same_everywhere(body);
  expect_the_same_everywhere("lop3.b32 %r, %a, %a, %b, 0x2D; lop3.b32 %r, %b, %r, %r, 0x1C;");
}

TEST_F(NativeTest, DoublewordsAreComputedAlike) {
  for (const std::string operation : {"add.u64", "sub.s64", "mul.lo.u64", "and.b64", "or.b64",
                                      "xor.b64", "min.s64", "max.s64", "min.u64", "max.u64"}) {
    expect_the_same_everywhere(operation + " %d, %da, %db;");
  }
  for (const std::string operation : {"shl.b64", "shr.u64", "shr.s64"}) {
    expect_the_same_everywhere(operation + " %d, %da, %b;");
    for (const std::string amount : {"0", "13", "32", "63", "64", "300"}) {
      expect_the_same_everywhere(operation + " %d, %da, " + amount + ";");
    }
  }
  for (const std::string operation :
       {"neg.s64", "abs.s64", "not.b64", "mov.b64", "cvta.to.global.u64", "cvta.shared.u64"}) {
    expect_the_same_everywhere(operation + " %d, %da;");
  }
  for (const std::string operation : {"mul.wide.u32", "mul.wide.s32"}) {
    expect_the_same_everywhere(operation + " %d, %a, %b;");
  }
  for (const std::string operation : {"mad.wide.u32", "mad.wide.s32"}) {
    expect_the_same_everywhere(operation + " %d, %a, %b, %dc;");
  }
  for (const std::string operation :
       {"cvt.u64.u32", "cvt.s64.s32", "cvt.rn.f64.s32", "cvt.rn.f64.u32", "cvt.f64.f32"}) {
    expect_the_same_everywhere(operation + " %d, %a;");
  }
  expect_the_same_everywhere("cvt.u32.u64 %r, %da;");
  expect_the_same_everywhere("cvt.rn.f32.f64 %r, %da;");
  expect_the_same_everywhere("mad.lo.s64 %d, %da, %db, %dc;");
  expect_the_same_everywhere("selp.b64 %d, %da, %db, %q;");
}

TEST_F(NativeTest, DoublesAreComputedAlike) {
  // Integers, and pairs of words as f64, including NaN with many payloads.
  const std::string integers =
      "cvt.rn.f64.s32 %da, %a; cvt.rn.f64.u32 %db, %b; cvt.rn.f64.s32 %dc, %c;";
  for (const std::string operation :
       {"add.f64 %d, %da, %db;", "sub.rn.f64 %d, %da, %db;", "mul.f64 %d, %da, %db;",
        "fma.rn.f64 %d, %da, %db, %dc;", "fma.rn.f64 %dc, %da, %db, %dc; mov.b64 %d, %dc;"}) {
    expect_the_same_everywhere(integers + operation);
    expect_the_same_everywhere(operation);
  }
}

TEST_F(NativeTest, ComparisonsAreAlike) {
  for (const std::string relation : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                     "gtu", "geu", "num", "nan"}) {
    expect_the_same_everywhere("setp." + relation + ".f32 %p, %a, %b;");
    expect_the_same_everywhere("setp." + relation + ".f64 %p, %da, %db;");
  }
  for (const std::string type : {"u32", "s32", "u64", "s64"}) {
    const std::string operands = type.ends_with("64") ? "%da, %db" : "%a, %b";
    for (const std::string relation : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      expect_the_same_everywhere("setp." + relation + "." + type + " %p, " + operands + ";");
    }
  }
  for (const std::string relation : {"lo", "ls", "hi", "hs"}) {
    expect_the_same_everywhere("setp." + relation + ".u32 %p, %a, %b;");
  }
  for (const std::string with : {"and", "or", "xor"}) {
    expect_the_same_everywhere("setp.lt." + with + ".s32 %p, %a, %b, %q;");
    expect_the_same_everywhere("setp.lt." + with + ".s32 %p|%q, %a, %b, !%q;");
    expect_the_same_everywhere("setp.lt." + with + ".f32 %q|%p, %a, %b, %p;");
    expect_the_same_everywhere(with + ".pred %p, %p, %odd; " + with + ".pred %q, !%q, %odd;");
  }
  expect_the_same_everywhere("not.pred %p, %q; mov.pred %q, %odd;");
}

/// Uses more values at a time than the CPU has registers, of both widths.
TEST_F(NativeTest, RegistersOverflowIntoTheFrame) {
  std::string body = ".reg .b32 %v<40>;\n";
  for (int i = 0; i < 40; ++i) {
    body += "add.u32 %v" + std::to_string(i) + ", %a, " + std::to_string(i * 12345) + ";\n";
  }
  for (int i = 0; i < 40; ++i) {
    body += "fma.rn.f32 %v" + std::to_string(i) + ", %v" + std::to_string(39 - i) + ", %b, %v" +
            std::to_string((i * 7) % 40) + ";\n";
  }
  for (int i = 0; i < 40; ++i) body += "xor.b32 %r, %r, %v" + std::to_string(i) + ";\n";
  expect_the_same(body);
  expect_the_same("@!%odd bra over;\n" + body + "\nover:");
  std::string wide = ".reg .b64 %w<20>;\n";
  for (int i = 0; i < 20; ++i) {
    wide +=
        "mad.wide.u32 %w" + std::to_string(i) + ", %a, " + std::to_string(i * 12345) + ", %da;\n";
  }
  for (int i = 0; i < 20; ++i) {
    const std::string v = "%w" + std::to_string(i), other = "%w" + std::to_string(19 - i);
    wide += "setp.lt.u64 %p, " + v + ", " + other + "; selp.b64 " + v + ", " + other + ", " + v +
            ", %p; cvt.u32.u64 %x, " + v + "; mad.lo.u32 %r, %r, 31, %x; add.u64 %d, %d, " + v +
            ";\n";
  }
  expect_the_same(wide);
  expect_the_same("@!%odd bra over;\n" + wide + "\nover:");
}

/// Results that only later instructions of the run read are not written to the frame; all others
/// are.
TEST_F(NativeTest, ResultsReachThoseThatReadThem) {
  const std::string load = "ld.global.b32 %c, [%in];\n";  // ends a run
  expect_the_same("add.u32 %x, %a, %b; mul.lo.u32 %c, %x, %a; xor.b32 %r, %c, %x;");
  expect_the_same("add.u32 %x, %a, %b;\n" + load + "xor.b32 %r, %c, %x;");
  expect_the_same(
      "add.u32 %x, %a, %b; setp.lt.u32 %p, %x, %b; @%p bra over;\n"
      "add.u32 %r, %x, 3; over:");
  expect_the_same(
      "add.u32 %x, %a, %b; add.u32 %r, %x, 1;\n@%odd add.u32 %x, %b, 7;\n"
      "add.u32 %r, %r, %x;");
  expect_the_same(
      "mov.b32 %r, 0; mov.b32 %c, 0;\nagain: add.u32 %x, %r, %a; add.u32 %r, %x, 1;\n"
      "sub.u32 %b, %r, %a; xor.b32 %r, %b, %x; add.u32 %c, %c, 1; setp.lt.u32 %p, %c, 5;\n"
      "@%p bra again;\n" +
      load + "xor.b32 %r, %r, %c;");
  expect_the_same("cvt.u64.u32 %d, %a; add.u64 %dc, %d, %da;\n" + load + "mov.b64 %d, %dc;");
}

/// Lanes run from block to block in translated code, all of them or in parts. The scheduler takes
/// over where they diverge, wait or exit.
TEST_F(NativeTest, ControlFlowIsTheSame) {
  const std::string count = "add.u32 %r, %r, %a; xor.b32 %r, %r, %x; add.u32 %x, %x, 1;\n";
  // Whole warps loop up to 32 times; then each lane loops as often as its lane index.
  expect_the_same(
      "shr.u32 %c, %t, 5; mov.b32 %x, 0;\nagain: setp.ge.u32 %p, %x, %c;\n@%p bra over;\n" + count +
      "bra again;\nover:");
  expect_the_same(
      "and.b32 %c, %t, 31; mov.b32 %x, 0;\nagain: setp.ge.u32 %p, %x, %c;\n@%p bra over;\n" +
      count + "bra again;\nover:");
  // A value of the previous iteration is needed after the loop.
  for (const std::string limit : {"shr.u32 %c, %t, 5;", "and.b32 %c, %t, 7;"}) {
    expect_the_same(limit +
                    "mov.b32 %x, 0; mov.b32 %b, 5;\nagain: setp.ge.u32 %p, %x, %c;\n@%p bra over;\n"
                    "mul.lo.u32 %b, %x, %a; add.u32 %x, %x, 1;\nbra again;\n"
                    "over: xor.b32 %r, %r, %b;");
  }
  // Values that are exchanged in each iteration, including NaN that PTX does not produce.
  expect_the_same(
      ".reg .b32 %s; and.b32 %c, %t, 7; mov.b32 %x, 0; mov.b32 %s, %a;\nagain: mov.b32 %r, %a; "
      "mov.b32 %a, %b; mov.b32 %b, %r;\n"
      "fma.rn.f32 %s, %s, %a, %b; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, %c;\n@%p bra again;\n"
      "xor.b32 %r, %a, %s;");
  // Nested loops and branches.
  expect_the_same(
      "mov.b32 %x, 0;\nouter: and.b32 %c, %t, %x; setp.lt.u32 %p, %c, 3;\n@%p bra small;\n"
      "inner: sub.u32 %c, %c, 2; add.u32 %r, %r, %c; setp.gt.s32 %q, %c, 2;\n@%q bra inner;\n"
      "bra next;\nsmall: add.u32 %r, %r, 7;\nnext: " +
      count + "setp.lt.u32 %p, %x, 9;\n@%p bra outer;\n");
  // Some lanes exit, in a loop and before it.
  expect_the_same("and.b32 %c, %t, 7; mov.b32 %x, 0;\nagain: setp.eq.u32 %p, %x, %c;\n@%p exit;\n" +
                  count + "setp.lt.u32 %p, %x, 5;\n@%p bra again;\n");
  expect_the_same("setp.gt.u32 %p, %t, 100;\n@%p exit;\n" + count);
  // Memory accesses, and barriers between iterations, at which warps of a part of the block wait.
  expect_the_same(
      "mov.b32 %x, 0;\nagain: ld.global.b32 %c, [%in]; add.u32 %r, %r, %c;\n@%odd bra over;\n"
      "ld.global.b32 %c, [%in+4]; xor.b32 %r, %r, %c;\nover: " +
      count + "bar.sync 0;\nsetp.lt.u32 %p, %x, 4;\n@%p bra again;\n");
  expect_the_same(
      "shr.u32 %c, %t, 5; mov.b32 %x, 0;\nagain: bar.sync 1;\n" + count +
      "setp.lt.u32 %p, %x, 4;\n@%p bra again;\nand.b32 %c, %c, 1; setp.eq.u32 %q, %c, 1;\n"
      "@%q bra over;\nbar.sync 2, 512;\nadd.u32 %r, %r, 1;\nover:");
  // Lanes exchange values, all of them and those of a divergent part.
  expect_the_same(
      "@%odd bra over;\nshfl.sync.bfly.b32 %c, %a, 2, 31, 0x55555555; add.u32 %r, %r, %c;\n"
      "over: shfl.sync.down.b32 %x, %r, 3, 31, -1; add.u32 %r, %r, %x;");
}

/// An infinite loop stops at the instruction limit, and a polling loop lets other warps run.
TEST_F(NativeTest, TurnsEndTheSame) {
  for (const std::uint64_t limit : {0, 100000}) {
    options.instruction_limit = limit;
    for (const bool native : {true, false}) {
      const Outcome endless = outcome(text("again: add.u32 %r, %r, 1;\nbra again;"), native);
      ASSERT_FALSE(endless.report.hazards.empty());
      EXPECT_EQ(endless.report.hazards.front().kind, HazardKind::instruction_limit);
    }
  }
  options.instruction_limit = 1u << 30;
  expect_the_same(
      "ld.param.u64 %dc, [in]; setp.ge.u32 %p, %t, 32;\n@%p bra set;\n"
      "wait: ld.volatile.global.u32 %x, [%dc+24572]; setp.ne.u32 %q, %x, 5;\n@%q bra wait;\n"
      "bra over;\nset: setp.eq.u32 %q, %t, 1023;\n@%q st.volatile.global.u32 [%dc+24572], "
      "5;\nover:");
}

/// Exceptions pass through translated code, so that a lack of memory is an error of the launch.
TEST_F(NativeTest, ExceptionsOfHandlersPass) {
  module = Module::load(text("add.u32 %r, %a, %b; mul.lo.u32 %r, %r, %r;"), "test.ptx", memory);
  Kernel& kernel = const_cast<Kernel&>(*module->kernel("k"));
  for (Instr& instr : kernel.code) {
    if (instr.native) continue;
    instr.full = instr.masked = [](Warp&, const Instr&) { throw std::bad_alloc(); };
  }
  native::translate(kernel);
  options.grid = {1, 1, 1};
  options.block = {threads, 1, 1};
  const std::vector<std::uint64_t> parameters = {array(input()), array(input())};
  EXPECT_THROW(launch(kernel, options, std::as_bytes(std::span(parameters)), memory, device),
               std::bad_alloc);
}

TEST_F(NativeTest, HazardsInTheMiddleOfARunAreTheSame) {
  expect_the_same("add.u32 %r, %a, 1; ld.global.b32 %x, [%in+100000]; add.u32 %r, %r, %x;");
  expect_the_same(
      "add.u32 %r, %a, 1; add.u32 %c, %r, 1; ld.global.v2.b32 {%c, %x}, [%in+100000];"
      "add.u32 %r, %c, %x;");
  expect_the_same(
      "add.u32 %c, %a, 1; add.u32 %r, %c, 1; atom.global.add.u32 %c, [%in+100000], 1;"
      "add.u32 %r, %r, %c;");
  expect_the_same("mov.b32 %r, %b; st.global.b32 [%out+2], %r; add.u32 %r, %r, 3;");
}

// The old contents of a row must not be visible.
TEST_F(NativeTest, WrongLoadsGiveZero) {
  for (const bool native : {true, false}) {
    for (const std::string load :
         {"ld.global.b32 %r, [%in+100000];", "atom.global.add.u32 %r, [%in+100000], %a;"}) {
      const Outcome wrong = outcome(text(load), native);
      EXPECT_EQ(wrong.report.hazards.size(), 1u) << load;
      EXPECT_EQ(wrong.out[0], 0u) << load;
    }
  }
}

}  // namespace
}  // namespace rung::vgpu
