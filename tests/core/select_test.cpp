// The catalog of rungs: valid headers of rung files, and the rungs that a selector matches.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "core/rung.hpp"

namespace rung {
namespace {

constexpr std::string_view good =
    "// gemm/cpu/01_loop_order: rows of B are\n"
    "// added to rows of C.\n"
    "// from: 00_triple_loop | removes: strides | bottleneck: every row of C goes through\n"
    "// the cache k times\n"
    "// needs: nothing | try: rung bench gemm/cpu/01\n"
    "\n"
    "// not part of the header\n";

std::string error_of(std::string_view id, std::string_view source) {
  try {
    parse_rung(id, source);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string without(std::string_view part) {
  std::string source(good);
  source.erase(source.find(part), part.size());
  return source;
}

TEST(ParseRung, ReadsEveryField) {
  const RungInfo rung = parse_rung("gemm/cpu/01_loop_order", good);
  EXPECT_EQ(rung.id, "gemm/cpu/01_loop_order");
  EXPECT_EQ(rung.op, "gemm");
  EXPECT_EQ(rung.backend, "cpu");
  EXPECT_EQ(rung.slug, "01_loop_order");
  EXPECT_EQ(rung.idea, "rows of B are added to rows of C.");
  EXPECT_EQ(rung.from, "00_triple_loop");
  EXPECT_EQ(rung.removes, "strides");
  EXPECT_EQ(rung.bottleneck, "every row of C goes through the cache k times");
  EXPECT_EQ(rung.needs, "nothing");
  EXPECT_EQ(rung.shown_by, "rung bench gemm/cpu/01");
  EXPECT_EQ(rung.source, good);
}

TEST(ParseRung, TheFirstRungComesFromNothing) {
  std::string source(good);
  source.replace(source.find("00_triple_loop"), 14, "nothing");
  EXPECT_EQ(parse_rung("gemm/cpu/01_loop_order", source).from, "");
}

TEST(ParseRung, NamesTheRungAndTheFieldThatIsMissing) {
  for (const std::string_view field : {"from: ", "removes: ", "bottleneck: ", "needs: ", "try: "}) {
    const std::string error = error_of("gemm/cpu/01_loop_order", without(field));
    EXPECT_TRUE(error.starts_with("gemm/cpu/01_loop_order: ")) << error;
    EXPECT_NE(error.find(fmt::format("'{}'", field)), std::string::npos) << error;
  }
}

TEST(ParseRung, ReadsTheComputeMode) {
  EXPECT_EQ(parse_rung("gemm/cpu/01_loop_order", good).compute_mode, ComputeMode::standard);
  const auto with_mode = [](std::string_view mode) {
    std::string source(good);
    source.insert(source.find(" | try: "), fmt::format(" | compute mode: {}", mode));
    return source;
  };
  const RungInfo rung = parse_rung("gemm/cpu/01_loop_order", with_mode("standard"));
  EXPECT_EQ(rung.compute_mode, ComputeMode::standard);
  EXPECT_EQ(parse_rung("gemm/cpu/01_loop_order", with_mode("split")).compute_mode,
            ComputeMode::split);
  EXPECT_EQ(rung.needs, "nothing");
  EXPECT_EQ(rung.shown_by, "rung bench gemm/cpu/01");
  EXPECT_EQ(error_of("gemm/cpu/01_loop_order", with_mode("exact")),
            "gemm/cpu/01_loop_order: 'exact' is not a compute mode; there are standard, split and "
            "reproducible");
}

TEST(ParseRung, RefusesEmptyFields) {
  EXPECT_NE(error_of("gemm/cpu/01_loop_order", without("strides")), "no error");
  EXPECT_NE(error_of("gemm/cpu/01_loop_order", without(" rung bench gemm/cpu/01")), "no error");
}

TEST(ParseRung, RefusesAnotherRungsHeader) {
  const std::string error = error_of("gemm/cpu/02_blocked", good);
  EXPECT_NE(error.find("'gemm/cpu/02_blocked: '"), std::string::npos) << error;
}

TEST(ParseRung, RefusesAnIdeaThatIsNoSentence) {
  const std::string error = error_of("gemm/cpu/01_loop_order", without("."));
  EXPECT_NE(error.find("rows of B are added to rows of C"), std::string::npos) << error;
}

TEST(ParseRung, RefusesAnEmptyFileAndAnIdWithoutALadder) {
  EXPECT_NE(error_of("gemm/cpu/01_loop_order", ""), "no error");
  EXPECT_NE(error_of("01_loop_order", good), "no error");
  EXPECT_NE(error_of("gemm/01_loop_order", good), "no error");
}

std::vector<std::string> ids(const std::vector<std::string>& selectors) {
  std::vector<std::string> found;
  for (const RungInfo* rung : select(selectors)) found.push_back(rung->id);
  return found;
}

TEST(Select, NothingSelectsTheLaddersThenTheLibrarysKernels) {
  std::vector<std::string> all;
  for (const RungInfo& rung : catalog()) all.push_back(rung.id);
  EXPECT_TRUE(std::ranges::is_partitioned(catalog(), &RungInfo::is_on_ladder));
  EXPECT_FALSE(catalog().back().is_on_ladder());
  EXPECT_EQ(ids({}), all);
  EXPECT_EQ(ids({"sum", "dot", "gemm"}), all);
}

TEST(Select, ByOpByLadderAndByRung) {
  for (const RungInfo* rung : select({"gemm"})) EXPECT_EQ(rung->op, "gemm");
  for (const RungInfo* rung : select({"dot/cpu"})) EXPECT_EQ(rung->op + rung->backend, "dotcpu");
  const std::vector<std::string> first = {"gemm/cpu/00_triple_loop"};
  EXPECT_EQ(ids({"gemm/cpu/00"}), first);
  EXPECT_EQ(ids({"gemm/cpu/00_triple_loop"}), first);
  EXPECT_EQ(ids({"gemm/cpu/00", "gemm/cpu/00_triple"}), first);
}

TEST(Select, AnIdSelectsOneRungAlone) {
  const std::vector<std::string> skinny = {"gemm/cuda/skinny"};
  EXPECT_EQ(ids({"gemm/cuda/skinny"}), skinny);
  const std::vector<std::string> both = {"gemm/cuda/skinny", "gemm/cuda/skinny_mma"};
  EXPECT_EQ(ids({"gemm/cuda/skin"}), both);
}

TEST(Select, FormerIdsSelectTheRungsOfToday) {
  for (const auto& [former, id] : former_ids) {
    const std::vector<std::string> today = {std::string(id)};
    EXPECT_EQ(ids({std::string(former)}), today) << former;
    const std::string with_number(former.substr(0, former.rfind('/') + 3));
    if (with_number != "gemm/cuda/50") {
      EXPECT_EQ(ids({with_number}), today) << with_number;
    }
    EXPECT_EQ(current_id(former), id);
    EXPECT_EQ(current_id(id), id);
  }
}

TEST(Select, ARungHasItsNumberBeforeFormerIds) {
  EXPECT_EQ(ids({"gemm/cuda/50"}), (std::vector<std::string>{"gemm/cuda/50_nvfp4"}));
}

TEST(Select, TellsWhichSelectorsAreFormerIds) {
  const auto formers = [](const std::string& selector) {
    std::vector<std::string> found;
    for (const FormerId& known : former_ids_in({"gemm/cpu", selector})) {
      found.push_back(fmt::format("{} {}", known.former, known.id));
    }
    return found;
  };
  const std::vector<std::string> none, skinny = {"gemm/cuda/50_skinny gemm/cuda/skinny"};
  EXPECT_EQ(formers("gemm/cuda/50_skinny"), skinny);
  EXPECT_EQ(formers("gemm/cuda/50_s"), skinny);
  EXPECT_EQ(formers("gemm/cuda/50"), none);
  EXPECT_EQ(formers("gemm/cuda/skinny"), none);
  EXPECT_EQ(formers("gemm/cuda"), none);
  EXPECT_EQ(formers("gemm/cuda/25"), none);
  EXPECT_EQ(formers("gemm/cuda/31"), none);
}

TEST(Select, NamesTheSelectorThatMatchesNothing) {
  for (const std::string selector : {"", "gem", "gemm/", "gemm/c", "gemm/cpu/", "gemm/cpu/99",
                                     "gemm/cpu/00_triple_loop_", "product"}) {
    try {
      select({"gemm", selector});
      FAIL() << "'" << selector << "' selected something";
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(fmt::format("'{}'", selector))) << text;
      EXPECT_NE(text.find("gemm/cpu, gemm/cuda, gemm/metal, dot/cpu"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace rung
