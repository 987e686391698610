// Rewrites of LLVM IR before compilation: cluster sizes, strings in inline assembly, tables of shared
// addresses, conversions, and the alignment of local variables.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "emu/compile/ir/inlined_calls.hpp"
#include "emu/compile/ir/passes.hpp"
#include "passes.hpp"

namespace rung::emu {
namespace {

const std::string annotations =
    "@.s = private constant [13 x i8] c\"rung.cluster\\00\"\n"
    "@.o = private constant [6 x i8] c\"other\\00\"\n"
    "@.1 = private constant { i32, i64 } { i32 4, i64 2 }, section \"llvm.metadata\"\n"
    "@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] "
    "[{ ptr, ptr, ptr, i32, ptr } { ptr @a, ptr @.s, ptr @.f, i32 8, ptr @.1 }, "
    "{ ptr, ptr, ptr, i32, ptr } { ptr @b, ptr @.o, ptr @.f, i32 9, ptr null }], section \"l\"\n";

TEST(ClusterSizes, StandAtTheBeginningOfTheirKernels) {
  const std::string a = "define void @a(ptr %0) #0 {\n", b = "define void @b(ptr %0) #0 {\n";
  const std::string end = "  ret void\n}\n";
  EXPECT_EQ(state_cluster_sizes(annotations + a + end + b + end),
            annotations + a +
                "  call void asm sideeffect \".pragma \\22rung.cluster 4, 2, 1\\22;\", \"\"()\n" +
                end + b + end);
  EXPECT_EQ(state_cluster_sizes(a + end), a + end);
}

// Columns become the numbers of calls, and comments tell their lines.
TEST(InlinedCalls, AreNumbered) {
  const std::string nodes =
      "!1 = !DIFile(filename: \"a\\22b.cu\", directory: \"/src\")\n"
      "!2 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 2, scopeLine: 2)\n"
      "!3 = distinct !DILexicalBlock(scope: !2, file: !4, line: 5, column: 1)\n"
      "!4 = !DIFile(filename: \"/lib/h.hpp\", directory: \"/src\")\n";
  const InlinedCalls calls = number_inlined_calls(
      nodes +
      "!5 = !DILocation(line: 7, column: 21, scope: !2)\n"
      "!6 = !DILocation(line: 8, column: 4, scope: !3, inlinedAt: !7)\n"
      "!7 = distinct !DILocation(line: 9, column: 5, scope: !3, inlinedAt: !8)\n"
      "!8 = distinct !DILocation(line: 10, scope: !2)\n");
  EXPECT_EQ(calls.module, nodes +
                              "!5 = !DILocation(line: 7, scope: !2)\n"
                              "!6 = !DILocation(line: 8, column: 1, scope: !3, inlinedAt: !7)\n"
                              "!7 = distinct !DILocation(line: 9, column: 2, scope: !3, inlinedAt: "
                              "!8)\n!8 = distinct !DILocation(line: 10, scope: !2)\n");
  EXPECT_EQ(calls.comments,
            "// rung.inlined 1 9 2 /lib/h.hpp\n"
            "// rung.inlined 2 10 0 /src/a\\042b.cu\n");
  EXPECT_EQ(with_inlined_calls(".version 8.3\n.address_size 64\nrest", calls.comments),
            ".version 8.3\n.address_size 64\n" + calls.comments + "rest");
}

TEST(GridConstants, AreNotedForTheirKernels) {
  const std::string mark = "@.m = private constant [19 x i8] c\"rung.grid_constant\\00\"\n";
  const std::string other = "define void @a(ptr byval(%struct.M) align 64 %0) {\n  ret void\n}\n";
  const std::string kernel = "define void @b(i32 noundef %0, ptr byval(%struct.M) align 64 %1) {\n";
  const auto annotation = [](const std::string& text) {
    return "  call void @llvm.var.annotation.p0.p0(ptr %1, ptr " + text +
           ", ptr @.f, i32 3, ptr null)\n";
  };
  const std::string end = annotation("@.other") + "  ret void\n}\n";
  EXPECT_EQ(note_grid_constants(mark + other + kernel + annotation("@.m") + end),
            mark + other + kernel + end +
                "!100000002 = !{ptr @b, !\"grid_constant\", !100000003}\n"
                "!100000003 = !{i32 2}\n!nvvm.annotations = !{!100000002}\n");
  EXPECT_EQ(note_grid_constants(kernel + end), kernel + end);
}

TEST(StringOperands, ArePartsOfTheInstruction) {
  const std::string arrays =
      "@a = linkonce_odr addrspace(4) externally_initialized constant [4 x i8] c\".rn\\00\", "
      "comdat\n"
      "@b = internal addrspace(4) constant [6 x i8] c\"{|$}x\\00\", align 1\n"
      "@c = internal addrspace(4) global [2 x i8] c\"c\\00\", align 1\n";
  const auto call = [](const std::string& assembly, const std::string& first,
                       const std::string& second) {
    return "  %1 = call float asm sideeffect \"" + assembly +
           "\", \"=f,=*m,i,i,f,i,0,~{memory}\"(ptr elementtype(i32) %p, " + first + ", " + second +
           ", float %2, ptr addrspacecast (ptr addrspace(4) @c to ptr), float %0) #3\n";
  };
  const auto address = [](const std::string& name) {
    return "ptr addrspacecast (ptr addrspace(4) @" + name + " to ptr)";
  };
  EXPECT_EQ(paste_string_operands(arrays + call("add$2.f32 $0, $4, $$2, ${3:x}, $3, $5, $22;",
                                                address("a"), address("b"))),
            arrays + call("add.rn.f32 $0, $4, $$2, ${3:x}, $($|$$$)x, $5, $22;", "i32 0", "i32 0"));
  EXPECT_EQ(paste_string_operands(arrays), arrays);
}

TEST(LocksInLoops, GetAMarkerAtTheLoopsEnd) {
  const std::string lock =
      "define i1 @try_lock(ptr %0) {\n  %2 = cmpxchg ptr %0, i32 0, i32 1 seq_cst seq_cst\n}\n";
  const std::string head =
      "define void @f(ptr %0) {\n  br label %2\n\n2:                  ; preds\n";
  const std::string take = "  %3 = call i1 @try_lock(ptr %0), !dbg !1\n";
  const std::string end = "  br i1 %3, label %4, label %2, !llvm.loop !5\n\n4:\n  ret void\n}\n";
  const std::string marker = "  call void asm sideeffect \"\", \"\"() convergent\n";
  EXPECT_EQ(keep_locks_in_loops(lock + head + take + end), lock + head + take + marker + end);
  EXPECT_EQ(keep_locks_in_loops(lock + head + end), lock + head + end);
}

TEST(SharedTables, AreStored) {
  const std::string value =
      "[2 x ptr] [ptr addrspacecast (ptr addrspace(3) @s to ptr), ptr getelementptr (i8, ptr "
      "addrspacecast (ptr addrspace(3) @s to ptr), i64 8)]";
  const std::string table = "@t = private unnamed_addr constant " + value + ", align 8\n";
  const auto copy = [](const std::string& from, const std::string& rest) {
    return "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %5, ptr align 8 " + from +
           ", i64 16, i1 false)" + rest + "\n";
  };
  const std::string others = copy("@u", "") + copy("%6", ", !dbg !1");
  EXPECT_EQ(store_shared_addresses(table + copy("@t", ", !dbg !7, !tbaa !1") + others),
            table + "  store " + value + ", ptr %5, align 8, !dbg !7\n" + others);
  EXPECT_EQ(store_shared_addresses(others), others);
}

TEST(NvccConversions, AreThoseToWords) {
  const auto saturating = [](const std::string& to, const std::string& from,
                             const std::string& at) {
    return "  %2 = call " + to + " @llvm.fptoui.sat." + to + ".f32(" + from + " " + at +
           "), !dbg !7\n";
  };
  EXPECT_EQ(nvcc_conversions(saturating("i8", "float", "%1")),
            "  %rung.wide.0 = call i32 @llvm.nvvm.f2ui.rz(float %1), !dbg !7\n"
            "  %2 = trunc i32 %rung.wide.0 to i8, !dbg !7\n"
            "declare i32 @llvm.nvvm.f2ui.rz(float)\n");
  EXPECT_EQ(nvcc_conversions(saturating("i64", "double", "%1")),
            "  %2 = call i64 @llvm.nvvm.d2ull.rz(double %1), !dbg !7\n"
            "declare i64 @llvm.nvvm.d2ull.rz(double)\n");
  EXPECT_EQ(nvcc_conversions(saturating("i32", "half", "%1")),
            "  %rung.float.0 = fpext half %1 to float, !dbg !7\n"
            "  %2 = call i32 @llvm.nvvm.f2ui.rz(float %rung.float.0), !dbg !7\n"
            "declare i32 @llvm.nvvm.f2ui.rz(float)\n");
  EXPECT_EQ(nvcc_conversions(saturating("i32", "float", "-1.5")),
            "  %2 = call i32 asm \"cvt.rzi.u32.f32 $0, $1;\", \"=r,f\"(float -1.5), !dbg !7\n");
  const std::string vector = saturating("<2 x i32>", "<2 x float>", "%1");
  EXPECT_EQ(nvcc_conversions(vector), vector);
}

TEST(NvccConversions, BytesThatAreNotZeroAreTrue) {
  const std::string range = "!4 = !{i8 0, i8 2}\n";
  EXPECT_EQ(nvcc_conversions("  %2 = load i8, ptr %1, align 1, !tbaa !3, !range !4, !noundef !5\n"
                             "  %3 = trunc i8 %2 to i1, !dbg !6\n" +
                             range),
            "  %2 = load i8, ptr %1, align 1, !tbaa !3, !noundef !5\n"
            "  %3 = icmp ne i8 %2, 0, !dbg !6\n" +
                range);
}

TEST(LocalAlignment, DividesTheSize) {
  const auto function = [](int bytes, int align) {
    return "define void @k() {\n  %1 = alloca %struct.S, align " + std::to_string(align) +
           "\n  call void @llvm.lifetime.start.p0(i64 " + std::to_string(bytes) +
           ", ptr %1) #3\n}\n";
  };
  EXPECT_EQ(align_locals(function(32, 2) + function(24, 4) + function(6, 1) + function(3, 1)),
            function(32, 16) + function(24, 8) + function(6, 2) + function(3, 1));
  EXPECT_EQ(align_locals(function(4, 64)), function(4, 64));
}

TEST(IrPasses, HaveAReasonAndATest) {
  for (const IrPass& pass : ir_passes()) {
    EXPECT_TRUE(std::string_view(pass.behaviour).ends_with('.')) << pass.name;
    EXPECT_TRUE(is_test(pass.test)) << pass.name << ": " << pass.test;
  }
}

}  // namespace
}  // namespace rung::emu
