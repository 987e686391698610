#include "tools/learn/glossary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/learn/exercise.hpp"

namespace rung::learn {
namespace {

TEST(Glossary, FindsWordsInAnyCaseAndNumber) {
  ASSERT_NE(find_word("sector"), nullptr);
  EXPECT_EQ(find_word("Sectors"), find_word("sector"));
  EXPECT_EQ(find_word("no such word"), nullptr);
  EXPECT_EQ(find_word(""), nullptr);
}

TEST(Glossary, EntriesArePlainTextThatNamesASource) {
  EXPECT_GE(glossary().size(), 40u);
  for (const Entry& entry : glossary()) {
    EXPECT_EQ(entry.text.find_first_of("*`[]"), std::string::npos) << entry.text;
    EXPECT_EQ(entry.text.find(entry.word), 0u) << entry.text;
    EXPECT_TRUE(entry.text.find("Guide") != std::string::npos ||
                entry.text.find("PTX ISA") != std::string::npos ||
                entry.text.find("docs/") != std::string::npos)
        << "no source: " << entry.text;
  }
}

TEST(Glossary, IsInAlphabeticalOrder) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), ::tolower);
    return text;
  };
  EXPECT_TRUE(std::is_sorted(
      glossary().begin(), glossary().end(),
      [&](const Entry& a, const Entry& b) { return lower(a.word) < lower(b.word); }));
}

}  // namespace
}  // namespace rung::learn
