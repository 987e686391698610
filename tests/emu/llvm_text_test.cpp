// What is changed in LLVM IR before it is compiled: sizes of clusters, tables of shared addresses.

#include <gtest/gtest.h>

#include <string>

#include "emu/cluster_sizes.hpp"
#include "emu/grid_constants.hpp"
#include "emu/shared_tables.hpp"

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

}  // namespace
}  // namespace rung::emu
