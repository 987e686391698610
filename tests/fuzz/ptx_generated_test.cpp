// Every text ends in a result, a hazard or an error: those that are kept because they once did not,
// and a few thousand that are made here.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/ptx_case.hpp"
#include "fuzz/ptx_generator.hpp"

namespace rung::vgpu {
namespace {

namespace fs = std::filesystem;

struct Text {
  std::string name, text;
};

std::vector<Text> texts_in(const std::string& folder) {
  std::vector<Text> texts;
  for (const auto& entry : fs::directory_iterator(fs::path(RUNG_FUZZ_CORPUS) / folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    texts.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(texts.begin(), texts.end(),
            [](const Text& a, const Text& b) { return a.name < b.name; });
  return texts;
}

/// The corpus says in its first line what becomes of a text: "// an error: MESSAGE" or "// runs".
TEST(PtxCorpus, EachTextEndsAsItsFirstLineSays) {
  const std::vector<Text> texts = texts_in("once_fatal");
  ASSERT_FALSE(texts.empty());
  for (const Text& text : texts) {
    const PtxCase result = run_ptx_case(text.text);
    EXPECT_EQ(result.violation, "") << text.name;
    const std::string expected = text.text.substr(0, text.text.find('\n'));
    const bool is_error = result.outcome < PtxOutcome::faulted;
    EXPECT_EQ(is_error ? "// an error: " + result.message : "// runs", expected) << text.name;
  }
}

TEST(PtxGenerator, MakesTheSameTextForTheSameNumber) {
  PtxGenerator one({"  add.u32 %r1, %r2, %r3;\n"}), other({"  add.u32 %r1, %r2, %r3;\n"});
  one.make(7);
  EXPECT_EQ(one.make(8), other.make(8));
  EXPECT_NE(one.make(8), one.make(9));
}

TEST(PtxGenerator, TextsThatAreAlmostRightEndInAResultOrAnError) {
  std::vector<std::string> texts;
  for (const Text& text : texts_in("ptx")) texts.push_back(text.text);
  PtxGenerator generator(texts);
  std::vector<int> outcomes(5, 0);
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const std::string text = generator.make(number);
    const PtxCase result = run_ptx_case(text);
    ASSERT_EQ(result.violation, "") << "number " << number << ": " << result.message << "\n"
                                    << text;
    ++outcomes[static_cast<std::size_t>(result.outcome)];
  }
  // Else they would test the parser alone.
  EXPECT_GT(outcomes[static_cast<std::size_t>(PtxOutcome::not_loaded)], 300);
  EXPECT_GT(outcomes[static_cast<std::size_t>(PtxOutcome::finished)], 300);
}

}  // namespace
}  // namespace rung::vgpu
