// The files of the ladders: checks their headers, and that rungs.inc lists each of them.

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

const std::filesystem::path project = RUNG_PROJECT;

using RungsByFolder = std::map<std::string, std::vector<const RungInfo*>>;

/// The rungs of each ladder ("gemm/cpu"), in order. The ladder of op sum is part of that of dot.
RungsByFolder ladders() {
  RungsByFolder found;
  for (const RungInfo& rung : catalog()) {
    if (rung.op != "sum" && rung.is_on_ladder())
      found[rung.op + "/" + rung.backend].push_back(&rung);
  }
  return found;
}

/// The library's kernels, likewise.
RungsByFolder kernels() {
  RungsByFolder found;
  for (const RungInfo& rung : catalog()) {
    if (!rung.is_on_ladder()) found[rung.op + "/" + rung.backend].push_back(&rung);
  }
  return found;
}

/// The names of the source files in a folder, without extensions.
std::set<std::string> sources_in(const std::filesystem::path& folder) {
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".cu" || extension == ".metal") {
      there.insert(entry.path().stem());
    }
  }
  return there;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The number of lines that diff marks with < or >: all lines of both texts except their longest
/// common subsequence, which counts twice.
std::size_t changed_lines(std::string_view before, std::string_view after) {
  const std::vector<std::string> a = lines_of(before), b = lines_of(after);
  std::vector<std::size_t> common(b.size() + 1);  // of the lines of a so far, and the first j of b
  for (const std::string& line : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = common[j + 1];
      common[j + 1] = line == b[j] ? diagonal + 1 : std::max(above, common[j]);
      diagonal = above;
    }
  }
  return a.size() + b.size() - 2 * common.back();
}

std::set<std::string> slugs(const std::vector<const RungInfo*>& rungs) {
  std::set<std::string> found;
  for (const RungInfo* rung : rungs) found.insert(rung->slug);
  return found;
}

/// Characters of UTF-8 text: its bytes less the continuation bytes.
std::ptrdiff_t columns(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(RungFiles, AreListedEachAndNoOthers) {
  for (const auto& [ladder, rungs] : ladders()) {
    EXPECT_EQ(slugs(rungs), sources_in(project / "ladder" / ladder)) << ladder << "/rungs.inc";
  }
  for (const auto& [folder, rungs] : kernels()) {
    EXPECT_EQ(slugs(rungs), sources_in(project / "kernels" / folder)) << folder << "/kernels.inc";
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

// The diff of two neighbours fits on two screens.
TEST(RungFiles, DifferFromTheRungTheyComeFromByOneIdea) {
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nc\n"), 1u);
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nd\nc\ne\n"), 3u);
  for (const auto& [ladder, rungs] : ladders()) {
    for (const RungInfo* rung : rungs) {
      for (const RungInfo* before : rungs) {
        if (before->slug != rung->from) continue;
        EXPECT_LE(changed_lines(before->source, rung->source), 130u)
            << rung->id << " from " << before->id;
      }
    }
  }
}

TEST(KernelFiles, ComeFromARungOrAnEarlierKernel) {
  const RungsByFolder rungs = ladders();
  for (const auto& [folder, all] : kernels()) {
    std::set<std::string> earlier = slugs(rungs.at(folder));
    for (const RungInfo* kernel : all) {
      EXPECT_TRUE(earlier.contains(kernel->from)) << kernel->id << " comes from " << kernel->from;
      earlier.insert(kernel->slug);
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
    const std::string short_id =
        rung.is_on_ladder() ? rung.id.substr(0, rung.id.rfind('/') + 3) : rung.id;
    EXPECT_TRUE(rung.shown_by.starts_with("rung ")) << rung.id;
    EXPECT_NE(rung.shown_by.find(short_id), std::string::npos) << rung.id << ": " << rung.shown_by;
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

// Few includes, so that a reader needs few other files to read a rung.
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
