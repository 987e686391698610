// Tests the experiments that find causes: edits of a text, the terms of a sum, the line of a metric.

#include <gtest/gtest.h>

#include <fstream>

#include "core/temporary_folder.hpp"
#include "tools/learn/check.hpp"
#include "tools/learn/source_edits.hpp"
#include "tools/learn/terms.hpp"

namespace rung::learn {
namespace {

const std::string text =
    "__global__ void kernel() {\n"          // 1
    "  float sum = 0;\n"                    // 2
    "  for (int k0 = 0; k0 < k; ++k0) {\n"  // 3
    "    s[t] = 1;\n"                       // 4
    "#pragma unroll\n"                      // 5
    "    for (int i = 0; i < 8; ++i)\n"     // 6
    "      sum += s[i];  // { reads\n"      // 7
    "    if (t < 2) {\n"                    // 8
    "      sum += s[t];\n"                  // 9
    "    }\n"                               // 10
    "  }\n"                                 // 11
    "}\n";

TEST(SourceEdits, FindTheStatementsAroundALine) {
  EXPECT_EQ(statements_around(text, 7), (std::vector<int>{5, 3}));
  EXPECT_EQ(statements_around(text, 9), (std::vector<int>{9, 8, 3}));
  EXPECT_EQ(statements_around(text, 0), std::vector<int>());
  EXPECT_EQ(statements_around(text, 99), std::vector<int>());
}

TEST(SourceEdits, FindTheEndsOfBlocks) {
  EXPECT_EQ(ends_of_blocks(text, 7), std::vector<int>{11});
  EXPECT_EQ(ends_of_blocks(text, 9), (std::vector<int>{10, 11}));
}

TEST(SourceEdits, InsertAndReplace) {
  EXPECT_EQ(with_statement("a;\nb;\n", {2}, "wait();"), "a;\nwait();\nb;\n");
  EXPECT_EQ(with_replaced("i <= n; j <= m;\ni <= n;\n", 1, "<=", "<"), "i < n; j < m;\ni <= n;\n");
  EXPECT_EQ(line_of(text, 7), "sum += s[i];");
}

Code compiled(const Exercise& exercise, const std::string& from, const std::string& to) {
  std::string source = solution_text(exercise);
  const std::size_t at = source.find(from);
  EXPECT_NE(at, source.npos);
  source.replace(at, from.size(), to);
  return compile_text(exercise, "attempt.cu", source).value();
}

TEST(Terms, AreThoseOfTheSolution) {
  const Exercise& exercise = *find_exercise("04");
  const Size size = {33, 31, 29};
  const auto terms = terms_of(compile_solution(exercise), size, 32 * 31 + 30);
  ASSERT_TRUE(terms);
  ASSERT_EQ(terms->size(), 29u);
  for (int i = 0; i < size.k; ++i) {
    EXPECT_EQ((*terms)[static_cast<std::size_t>(i)], (Term{32 * 29 + i, i * 31 + 30, 1}));
  }
}

TEST(Terms, CountRepeatedAndMissingProducts) {
  const Exercise& exercise = *find_exercise("18");
  const Code twice = compiled(exercise, "j < THREADS; ++j) sum +=", "j < 2; ++j) sum += 2 *");
  EXPECT_EQ(terms_of(twice, {1, 300, 1}, 0),
            (std::vector<Term>{{0, 0, 2}, {1, 1, 2}, {256, 256, 2}, {257, 257, 2}}));
}

TEST(Terms, AreEmptyForWhatIsNoSumOfProducts) {
  const Exercise& exercise = *find_exercise("18");
  const Code added = compiled(exercise, "x[i] * y[i]", "x[i] + y[i] + 1");
  EXPECT_FALSE(terms_of(added, {1, 300, 1}, 0));
}

std::string first_finding(const char* exercise, const std::string& from, const std::string& to) {
  const Exercise& of = *find_exercise(exercise);
  std::string source = solution_text(of);
  source.replace(source.find(from), from.size(), to);
  const TemporaryFolder folder;
  const auto file = folder.path() / "mine.cu";
  std::ofstream(file) << source;
  return check(of, file).findings.at(0).text;
}

TEST(Findings, NameTheLineOfAMissedGoal) {
  const std::string found = first_finding("08", "LDA = BM + 4", "LDA = BM");
  EXPECT_NE(found.find("Most at mine.cu:"), found.npos) << found;
  EXPECT_NE(found.find("2 wavefronts each time"), found.npos) << found;
}

TEST(Findings, NameTheFirstWrongProduct) {
  const std::string found = first_finding("04", "a[row * k + k0 + tx]", "a[row * k + tx]");
  EXPECT_NE(found.find("C[0][0] multiplies B[32][0] by A[0][0]"), found.npos) << found;
}

TEST(Findings, NameTheReturnAheadOfABarrier) {
  const std::string found = first_finding("04", "  float sum = 0;",
                                          "  if (row >= m || col >= n) return;\n  float sum = 0;");
  EXPECT_NE(found.find("'if (row >= m || col >= n) return;'"), found.npos) << found;
}

}  // namespace
}  // namespace rung::learn
