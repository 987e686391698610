// For each exercise, the solution passes, the start does not, and each wrong or slow attempt
// produces the intended finding, for which there is a hint.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/temporary_folder.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/learn/check.hpp"
#include "tools/learn/metrics.hpp"
#include "tools/learn/picture.hpp"

namespace rung::learn {

static void PrintTo(const Exercise& exercise, std::ostream* stream) { *stream << exercise.slug; }

namespace {

CheckResult check_text(const Exercise& exercise, const std::string& text) {
  const TemporaryFolder folder;
  const auto file = folder.path() / (std::string("attempt") + exercise.suffix());
  std::ofstream(file) << text;
  return check(exercise, file);
}

std::string all_findings(const CheckResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) text += finding.key + ": " + finding.text + "\n";
  return text;
}

class Exercises : public testing::TestWithParam<Exercise> {};

TEST_P(Exercises, SolutionPasses) {
  const CheckResult result = check_text(GetParam(), solution_text(GetParam()));
  EXPECT_TRUE(result.is_solved()) << all_findings(result);
  EXPECT_EQ(result.goals.size(), GetParam().goals.size());
}

TEST_P(Exercises, HaveAPicture) {
  const Picture picture = picture_of(GetParam());
  if (const auto* access = std::get_if<DrawnAccess>(&picture)) {
    EXPECT_NE(access->access.lanes, 0u);
  } else {
    EXPECT_GT(std::get<TileMap>(picture).rows, 1);
  }
}

// A start compiles, but is not yet correct.
TEST_P(Exercises, StartIsUnsolvedAndHasAHint) {
  const std::string start = start_text(GetParam());
  EXPECT_NE(start.find("TODO"), start.npos);
  EXPECT_EQ(start.find("//@"), start.npos);
  const std::string covered = covered_solution(GetParam()), whole = solution_text(GetParam());
  EXPECT_EQ(std::ranges::count(covered, '\n'), std::ranges::count(whole, '\n'));
  EXPECT_NE(covered.find("…\n"), covered.npos);
  const CheckResult result = check_text(GetParam(), start);
  ASSERT_FALSE(result.is_solved());
  ASSERT_GE(result.findings.size(), 2u);
  EXPECT_EQ(result.findings.front().key, "unfinished");
  EXPECT_NE(result.findings[1].key, "compile");
}

TEST_P(Exercises, AttemptsGetTheirHints) {
  const std::vector<Attempt> made = attempts(GetParam());
  EXPECT_GE(made.size(), 2u);
  for (const Attempt& attempt : made) {
    const CheckResult result = check_text(GetParam(), attempt.text);
    ASSERT_FALSE(result.is_solved()) << attempt.title;
    EXPECT_EQ(result.findings.front().key, attempt.finding) << attempt.title << "\n"
                                                            << all_findings(result);
    EXPECT_FALSE(GetParam().hints_for(attempt.finding).empty()) << attempt.title;
  }
}

// Each goal that a learner can miss has a hint in its exercise.
TEST_P(Exercises, GoalsHaveHints) {
  for (const Goal& goal : GetParam().goals) {
    EXPECT_NO_THROW(metric(goal.metric));
    EXPECT_FALSE(GetParam().hints_for(goal.metric).empty()) << goal.metric;
  }
  for (const std::string& finding : GetParam().hinted()) EXPECT_NO_THROW(occasion(finding));
  for (const std::string_view line :
       {GetParam().title, GetParam().rung, GetParam().caption, task(GetParam()).back().text})
    EXPECT_FALSE(line.empty());
}

const auto name_of = [](const auto& exercise) {
  return exercise.param.number + "_" + exercise.param.slug;
};
INSTANTIATE_TEST_SUITE_P(Metal, Exercises, testing::ValuesIn(exercises(Language::metal)), name_of);
INSTANTIATE_TEST_SUITE_P(All, Exercises, testing::ValuesIn(exercises()), name_of);

TEST(ExerciseList, IsNumberedFromOne) {
  EXPECT_GE(exercises().size(), 24u);
  EXPECT_GE(exercises(Language::metal).size(), 10u);
  for (const Language language : {Language::cuda, Language::metal}) {
    const std::vector<Exercise>& all = exercises(language);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(std::stoul(all[i].number), i + 1);
      EXPECT_EQ(find_exercise(std::to_string(i + 1), language), &all[i]);
      EXPECT_EQ(find_exercise(all[i].slug, language), &all[i]);
    }
  }
  EXPECT_EQ(find_exercise("0"), nullptr);
  EXPECT_EQ(find_exercise("no_such_exercise"), nullptr);
}

}  // namespace
}  // namespace rung::learn
