// The files of the ladders: what their headers say, and that rungs.inc lists each of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/rung.hpp"

namespace rung {
namespace {

const std::filesystem::path kernels = RUNG_KERNELS;

/// Ladder ("gemm/cpu") to its rungs, in order. That of op sum is part of another one.
std::map<std::string, std::vector<const RungInfo*>> ladders() {
  std::map<std::string, std::vector<const RungInfo*>> found;
  for (const RungInfo& rung : catalog()) {
    if (rung.op != "sum") found[rung.op + "/" + rung.backend].push_back(&rung);
  }
  return found;
}

/// Characters of UTF-8 text: its bytes less the continuation bytes.
std::ptrdiff_t columns(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(RungFiles, AreListedEachAndNoOthers) {
  const std::set<std::string> sources = {".cpp", ".cu", ".metal"};
  for (const auto& [ladder, rungs] : ladders()) {
    std::set<std::string> listed, there;
    for (const RungInfo* rung : rungs) listed.insert(rung->slug);
    for (const auto& entry : std::filesystem::directory_iterator(kernels / ladder)) {
      if (sources.contains(entry.path().extension())) there.insert(entry.path().stem());
    }
    EXPECT_EQ(listed, there) << "rungs.inc and files of kernels/" << ladder;
  }
}

TEST(RungFiles, AreNumberedUpwardsFromZero) {
  for (const auto& [ladder, rungs] : ladders()) {
    EXPECT_TRUE(rungs.front()->slug.starts_with("00_")) << ladder;
    for (std::size_t i = 1; i < rungs.size(); ++i) {
      EXPECT_LT(rungs[i - 1]->slug.substr(0, 2), rungs[i]->slug.substr(0, 2)) << ladder;
    }
  }
}

TEST(RungFiles, ComeFromAnEarlierRung) {
  for (const auto& [ladder, rungs] : ladders()) {
    std::set<std::string> earlier;
    for (const RungInfo* rung : rungs) {
      if (earlier.empty()) {
        EXPECT_EQ(rung->from, "") << rung->id;
      } else {
        EXPECT_TRUE(earlier.contains(rung->from)) << rung->id << " comes from " << rung->from;
      }
      earlier.insert(rung->slug);
    }
  }
}

TEST(RungFiles, OfSumsAreTheDotProducts) {
  for (const RungInfo* sum : select({"sum"})) {
    const RungInfo* dot = select({"dot" + sum->id.substr(3)}).front();
    EXPECT_EQ(sum->slug, dot->slug);
    EXPECT_EQ(sum->source, dot->source);
    EXPECT_EQ(sum->idea, dot->idea);
  }
}

TEST(RungFiles, ShowThemselves) {
  for (const RungInfo& rung : catalog()) {
    if (rung.op == "sum") continue;
    const std::string number = rung.id.substr(0, rung.id.rfind('/') + 3);
    EXPECT_TRUE(rung.shown_by.starts_with("rung ")) << rung.id;
    EXPECT_NE(rung.shown_by.find(number), std::string::npos) << rung.id << ": " << rung.shown_by;
  }
}

TEST(RungFiles, AreShortAndNarrow) {
  for (const RungInfo& rung : catalog()) {
    std::istringstream text{std::string(rung.source)};
    int lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      EXPECT_LE(columns(line), 100) << rung.id << ":" << lines + 1;
    }
    EXPECT_GE(lines, 20) << rung.id;
    EXPECT_LE(lines, 250) << rung.id;
  }
}

// So that a reader has few files open beside a rung.
TEST(RungFiles, IncludeFewFiles) {
  for (const RungInfo& rung : catalog()) {
    const std::string_view include = "#include \"";
    int includes = 0;
    for (std::size_t at = rung.source.find(include); at != std::string_view::npos;
         at = rung.source.find(include, at + 1)) {
      ++includes;
    }
    EXPECT_GE(includes, 1) << rung.id;
    EXPECT_LE(includes, 10) << rung.id;
  }
}

TEST(RungFiles, ContainNoAssembly) {
  for (const RungInfo& rung : catalog()) {
    EXPECT_EQ(rung.source.find("asm"), std::string_view::npos) << rung.id;
  }
}

}  // namespace
}  // namespace rung
