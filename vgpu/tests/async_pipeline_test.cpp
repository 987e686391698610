// The pipeline has no hazards, and every removal of a synchronisation is detected.

#include "vgpu/tests/async_pipeline.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace rung::vgpu {
namespace {

constexpr std::size_t steps = 5, depth = 64 * steps;

std::uint16_t bf16_of(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

class AsyncPipelineTest : public AsyncTest {
 protected:
  void SetUp() override {
    std::mt19937 random(3);
    const auto fill = [&](std::vector<float>& matrix) {
      std::vector<std::uint16_t> bits;
      for (std::size_t i = 0; i < 64 * depth; ++i) {
        matrix.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8) / 4);
        bits.push_back(bf16_of(matrix.back()));
      }
      return map(array(bits), TensorElement::bf16, depth, 64, 2 * depth, 64, 64,
                 TensorSwizzle::bytes_128);
    };
    a_map = fill(a);
    b_map = fill(b);
  }

  LaunchReport run_lines(const std::vector<std::string>& lines) {
    c = array(std::vector<float>(64 * 64, -1.0f));
    options.instruction_limit = 1 << 20;
    return run(pipeline_text(lines), {1, 1, 1}, {160, 1, 1}, {a_map, b_map, c, steps});
  }

  bool is_right() {
    const auto result = values<float>(c, 64 * 64);
    for (std::size_t i = 0; i < 64; ++i) {
      for (std::size_t j = 0; j < 64; ++j) {
        float sum = 0;
        for (std::size_t k = 0; k < depth; ++k) sum += a[i * depth + k] * b[j * depth + k];
        if (result[i * 64 + j] != sum) return false;
      }
    }
    return true;
  }

  std::vector<float> a, b;
  std::uint64_t a_map = 0, b_map = 0, c = 0;
};

TEST_F(AsyncPipelineTest, IsRight) {
  expect_none(run_lines(pipeline()));
  EXPECT_TRUE(is_right());
}

TEST_F(AsyncPipelineTest, IsRightUnobserved) {
  options.observe = false;
  expect_none(run_lines(pipeline()));
  EXPECT_TRUE(is_right());
}

bool has_any(const std::string& line, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return line.find(part) != std::string::npos; });
}

/// True for instructions that synchronise. Each is needed, at its position.
bool synchronises(const std::string& line) {
  return has_any(line,
                 {"mbarrier.", "wgmma.fence", "wgmma.commit", "wgmma.wait", "bar.sync", "fence."});
}

/// The next line in the same basic block that synchronises or is asynchronous.
std::size_t next_of(const std::vector<std::string>& lines, std::size_t at) {
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    if (has_any(lines[i], {"bra ", ":", "try_wait"}) && !has_any(lines[i], {"::"})) break;
    if (synchronises(lines[i]) || has_any(lines[i], {"cp.async", "wgmma."})) return i;
  }
  return at;
}

TEST_F(AsyncPipelineTest, NothingMayBeMissing) {
  const auto lines = pipeline();
  int mutants = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!synchronises(lines[i])) continue;
    auto mutant = lines;
    mutant.erase(mutant.begin() + static_cast<std::ptrdiff_t>(i));
    // Remove a wait together with the branch that repeats it.
    if (has_any(lines[i], {"try_wait"})) {
      mutant.erase(mutant.begin() + static_cast<std::ptrdiff_t>(i));
    }
    ++mutants;
    EXPECT_FALSE(run_lines(mutant).hazards.empty()) << "without: " << lines[i];
  }
  EXPECT_EQ(mutants, 13);
}

TEST_F(AsyncPipelineTest, NothingMayBeLater) {
  const auto lines = pipeline();
  int mutants = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t next = next_of(lines, i);
    if (!synchronises(lines[i]) || next == i) continue;
    // Initialisations have no order, and bytes may arrive before they are expected.
    if (has_any(lines[i], {"init.shared"}) && has_any(lines[next], {"init.shared"})) continue;
    if (has_any(lines[i], {"expect_tx"}) && has_any(lines[next], {"cp.async"})) continue;
    auto mutant = lines;
    std::rotate(mutant.begin() + static_cast<std::ptrdiff_t>(i),
                mutant.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                mutant.begin() + static_cast<std::ptrdiff_t>(next) + 1);
    ++mutants;
    EXPECT_FALSE(run_lines(mutant).hazards.empty()) << lines[i] << " behind " << lines[next];
  }
  EXPECT_EQ(mutants, 4);
}

TEST_F(AsyncPipelineTest, ArrivalBeforeTheWait) {
  // The stage is released while wgmma still reads it.
  auto lines = pipeline();
  const auto is = [](const char* part) {
    return [part](const std::string& line) { return line.find(part) != std::string::npos; };
  };
  const auto wait = std::find_if(lines.begin(), lines.end(), is("wgmma.wait_group"));
  std::iter_swap(wait, wait + 1);
  const Hazard hazard = found(run_lines(lines), HazardKind::shared_race);
  EXPECT_EQ(hazard.first.access, "bulk copy");
  EXPECT_EQ(hazard.other.access, "wgmma");
}

TEST_F(AsyncPipelineTest, AWarpThatLeavesTheOthersAlone) {
  // The last warp of the warpgroup exits.
  auto lines = pipeline();
  const auto place = std::find(lines.begin(), lines.end(), "CONSUMER:");
  lines.insert(place + 1, {"setp.ge.u32 %p1, %r1, 96;", "@%p1 bra DONE;"});
  const Hazard hazard = found(run_lines(lines), HazardKind::deadlock);
  EXPECT_NE(hazard.message.find("waits for 1 of 4 arrivals"), std::string::npos) << hazard.message;
  for (std::string& line : lines) {
    if (line.find("[empty") != std::string::npos) line.replace(line.find(", 4"), 3, ", 3");
  }
  EXPECT_NE(found(run_lines(lines), HazardKind::bad_participant)
                .message.find("warp 3 of its warpgroup does not take part"),
            std::string::npos);
}

TEST_F(AsyncPipelineTest, SumsReadBeforeTheWait) {
  auto lines = pipeline();
  for (std::string& line : lines) {
    if (line.find("wgmma.wait_group") != std::string::npos) {
      line = "wgmma.wait_group.sync.aligned 1;";
    }
  }
  const Hazard hazard = found(run_lines(lines), HazardKind::in_flight);
  EXPECT_NE(hazard.message.find("is in use by the wgmma"), std::string::npos) << hazard.message;
}

}  // namespace
}  // namespace rung::vgpu
