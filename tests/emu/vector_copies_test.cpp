#include <gtest/gtest.h>

#include <string>

#include "emu/compile/ir/passes.hpp"
#include "passes.hpp"

namespace rung::emu {
namespace {

// The elements of structures of four floats, four integers, two doubles, three floats, and two
// floats and a double.
const std::string metadata =
    "!2 = !{i64 0, i64 4, !6, i64 4, i64 4, !6, i64 8, i64 4, !6, i64 12, i64 4, !6}\n"
    "!3 = !{i64 0, i64 4, !7, i64 4, i64 4, !7, i64 8, i64 4, !7, i64 12, i64 4, !7}\n"
    "!4 = !{i64 0, i64 8, !8, i64 8, i64 8, !8}\n"
    "!5 = !{i64 0, i64 4, !6, i64 4, i64 4, !6, i64 8, i64 4, !6}\n"
    "!13 = !{i64 0, i64 4, !6, i64 4, i64 4, !6, i64 8, i64 8, !8}\n"
    "!6 = !{!9, !9, i64 0}\n!7 = !{!10, !10, i64 0}\n!8 = !{!11, !11, i64 0}\n"
    "!9 = !{!\"float\", !12, i64 0}\n!10 = !{!\"int\", !12, i64 0}\n"
    "!11 = !{!\"double\", !12, i64 0}\n";

std::string copy_line(const std::string& to, const std::string& from, const std::string& rest,
                      int bytes = 16, bool is_volatile = false) {
  return "  call void @llvm.memcpy.p0.p0.i64(" + to + ", " + from + ", i64 " +
         std::to_string(bytes) + ", i1 " + (is_volatile ? "true" : "false") + "), " + rest + "\n";
}

TEST(VectorCopies, HaveTheTypeOfTheirElements) {
  const auto copied = [](const std::string& type) {
    return "  %rung.0 = load " + type + ", ptr %0, align 16, !dbg !1\n  store " + type +
           " %rung.0, ptr addrspace(3) @t, align 16, !dbg !1\n" + metadata;
  };
  const auto copies = [](const std::string& structure) {
    return copy_line("ptr addrspace(3) align 4 @t", "ptr align 16 dereferenceable(16) %0",
                     "!dbg !1, !tbaa.struct " + structure) +
           metadata;
  };
  EXPECT_EQ(copy_by_vectors(copies("!2")), copied("<4 x float>"));
  EXPECT_EQ(copy_by_vectors(copies("!3")), copied("<4 x i32>"));
  EXPECT_EQ(copy_by_vectors(copies("!4")), copied("<2 x double>"));
  EXPECT_EQ(copy_by_vectors(copies("!13")), copied("<4 x i32>"));
}

TEST(VectorCopies, AlignArrays) {
  const std::string array = "@t = internal addrspace(3) global [8 x float] undef, align ";
  const std::string variable = "  %1 = alloca [8 x float], align ";
  const std::string copy = copy_line("ptr align 16 %2", "ptr align 16 %0", "!tbaa.struct !2");
  const std::string text = copy_by_vectors(array + "4\n" + variable + "4\n" + copy + metadata);
  EXPECT_TRUE(text.starts_with(array + "16\n" + variable + "16\n  %rung.2 = load")) << text;
}

TEST(VectorCopies, LeaveOthersAlone) {
  const std::string to = "ptr align 16 %1", from = "ptr align 16 %0";
  for (const std::string& line : {
           copy_line("ptr align 4 %1", "ptr align 4 %0", "!tbaa.struct !2"),
           copy_line(to, from, "!dbg !1"),  // a call of memcpy()
           copy_line(to, from, "!tbaa.struct !5", 12),
           copy_line(to, from, "!tbaa.struct !2", 16, true),
       }) {
    const std::string text = "  %1 = alloca [8 x float], align 4\n" + line + metadata;
    EXPECT_EQ(copy_by_vectors(text), text);
  }
}

TEST(VectorCopies, LeaveMembersOfLessAlignmentAlone) {
  const std::string copy = copy_line("ptr align 4 %1", "ptr align 16 %0", "!tbaa.struct !2");
  const auto from = [&](const std::string& address) {
    return "define void @f() {\n  %1 = getelementptr inbounds " + address + "\n" + copy + metadata;
  };
  const std::string member = from("%struct.Storage, ptr %2, i32 0, i32 3");
  EXPECT_EQ(copy_by_vectors(member), member);
  const std::string element = from("[8 x float], ptr %2, i64 0, i64 %3");
  EXPECT_NE(copy_by_vectors(element), element);
}

TEST(VectorCasts, HideTheArray) {
  EXPECT_EQ(after(hide_arrays_of_vectors, "x = *(float4*)&t[i]; return (const uint4 *)(p + 1);"),
            "x = *(float4*)(::rung_emu::Address)&t[i]; "
            "return (const uint4 *)(::rung_emu::Address)(p + 1);");
  EXPECT_EQ(after(hide_arrays_of_vectors, "reinterpret_cast<float4 *>(&(x))[0] = y;"),
            "((float4 *)(::rung_emu::Address)(&(x)))[0] = y;");
  EXPECT_EQ(
      after(hide_arrays_of_vectors, "reinterpret_cast<int4*>(f(reinterpret_cast<int2 const*>(p)))"),
      "((int4*)(::rung_emu::Address)(f(((int2 const*)(::rung_emu::Address)(p)))))");
}

TEST(VectorCasts, LeavesOtherTextAlone) {
  for (const std::string text :
       {"void f(float4*);", "void f (float4*) const;", "sizeof(float4*)", "(float*)&x",
        "reinterpret_cast<float4&>(x)", "reinterpret_cast<T*>(x)", "(float4* p)", "(float4)x",
        "std::function<void(float4*)> g;", "void (*g)(float4*) = f;",
        "reinterpret_cast<int4*>(("}) {
    EXPECT_EQ(after(hide_arrays_of_vectors, text), text);
  }
}

}  // namespace
}  // namespace rung::emu
