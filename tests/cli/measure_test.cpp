// The parts that measurements are made of; no test here depends on how long anything takes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "device/cpu/machine.hpp"
#include "measure/ceiling_kernels.hpp"
#include "measure/peers/open.hpp"
#include "measure/peers/peer.hpp"
#include "measure/statistics.hpp"
#include "measure/timing.hpp"
#include "report/output_file.hpp"
#include "report/table.hpp"

namespace rung {
namespace {

TEST(Statistics, QuartilesInterpolate) {
  const std::vector<double> values = {4, 1, 3, 2, 10};
  const Summary summary = summarize(values);
  EXPECT_EQ(summary.count, 5u);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.q1, 2);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.q3, 4);
  EXPECT_EQ(summary.max, 10);
  EXPECT_EQ(summarize(std::vector<double>{1, 2}).median, 1.5);
  EXPECT_EQ(summarize({}).count, 0u);
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> values = {4, 1, 3, 2, 10};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 1.2);
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 8.8);
  EXPECT_EQ(quantile(values, 1), 10);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TEST(Statistics, MediansDifferWhereTheirIntervalsDoNotOverlap) {
  const auto summary = [](double median, double half_range, std::size_t count) {
    Summary of;
    of.count = count;
    of.q1 = median - half_range;
    of.median = median;
    of.q3 = median + half_range;
    return of;
  };
  EXPECT_DOUBLE_EQ(margin_of_median(summary(100, 5, 100)), 1.57);
  EXPECT_TRUE(medians_differ(summary(100, 5, 100), summary(104, 5, 100)));
  EXPECT_FALSE(medians_differ(summary(100, 5, 100), summary(103, 5, 100)));
  EXPECT_FALSE(medians_differ(summary(100, 0, 4), summary(200, 0, 100))) << "too few samples";
}

TEST(Statistics, RatiosAreTakenPairByPair) {
  // The machine was ten times slower in round 1: medians of each would say 10 / 1.
  const std::vector<double> peer = {2, 20, 2, 30};
  const std::vector<double> own = {1, 10, 1, 15};
  EXPECT_EQ(median_ratio(peer, own), 2);
  EXPECT_EQ(median_ratio(peer, std::vector<double>{4}), 0.5);
  EXPECT_EQ(median_ratio(peer, {}), 0);
}

TEST(Timing, EveryCandidateIsSampledInEveryRoundThatItTakesPartIn) {
  std::int64_t first = 0;
  std::int64_t second = 0;
  const auto count = [](std::int64_t& counter) {
    return [&counter](std::int64_t calls) {
      for (std::int64_t i = 0; i < calls; ++i) {
        counter += 1;
        asm volatile("" ::: "memory");  // a call takes some time, however little
      }
    };
  };
  TimingOptions options;
  options.seconds = 0.02;
  const auto timings = time_interleaved({{count(first), 0}, {count(second), 1e9}}, options);
  ASSERT_EQ(timings.size(), 2u);
  for (const Timing& timing : timings) EXPECT_GE(timing.seconds.size(), 1u);
  EXPECT_GT(timings[0].calls, 1);  // short calls are repeated to fill a sample
  EXPECT_GT(first, timings[0].calls);
  EXPECT_EQ(timings[1].calls, 1);  // one that is expected to take long, not
  EXPECT_EQ(second, static_cast<std::int64_t>(timings[1].seconds.size()));
}

TEST(Ceilings, ReadKernelReadsEveryByte) {
  const ReadKernel read = read_kernel();
  alignas(64) static std::byte data[2048];
  for (std::int64_t bytes = 0; bytes <= 1300; bytes += bytes < 300 ? 1 : 61) {
    const std::vector<Region> region = {{data, bytes}};
    std::fill(std::begin(data), std::end(data), std::byte{0});
    for (const bool prefetch : {false, true}) {
      for (std::int64_t i = 0; i < bytes; ++i) {
        data[i] = std::byte{1};
        EXPECT_NE(read(region, 1, prefetch), 0u) << i << " of " << bytes;
        data[i] = std::byte{0};
      }
      data[bytes] = std::byte{1};
      EXPECT_EQ(read(region, 1, prefetch), 0u) << "past " << bytes;
      data[bytes] = std::byte{0};
    }
  }
}

TEST(Ceilings, MultiplyAddsAreAllDone) {
  // Twelve accumulators start at 0 to 11 and count up by one each iteration, in every lane.
  const FmaKernel kernel = fma_kernel<float>();
  const double lanes = kernel.flops_per_iteration / (2 * 12);
  EXPECT_EQ(kernel.run(0), 66 * lanes);
  EXPECT_EQ(kernel.run(10), (66 + 120) * lanes);
}

TEST(OutputFile, AppearsWholeAndReplaces) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("rung_output_" + std::to_string(getpid()) + ".json");
  const OutputFile file(path.string());
  EXPECT_FALSE(std::filesystem::exists(path));  // not before there is something in it
  for (const std::string text : {"first\n", "second\n"}) {
    file.write(text);
    std::ifstream stream(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
  }
  std::filesystem::remove(path);
}

// As where the CPU's model is newer than the library.
TEST(OpenBlas, IsToldItsKernelsWhereItDoesNotKnowTheCpu) {
  if (!cpu::machine().isa.contains(cpu::Isa::avx2)) GTEST_SKIP() << "a CPU without AVX2";
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  std::string why_not;
  const auto peer = open_openblas(why_not);
  unsetenv("OPENBLAS_CORETYPE");
  if (peer == nullptr) GTEST_SKIP() << why_not;
  EXPECT_NE(peer->kernels(), "Prescott");
}

TEST(PeerEnvironment, HasNothingThatSlowsAPeerAndShortSpins) {
  setenv("MKL_CBWR", "COMPATIBLE", 1);
  setenv("KMP_BLOCKTIME", "infinite", 1);
  EXPECT_EQ(prepare_environment(),
            (std::vector<std::string>{"MKL_CBWR=COMPATIBLE", "KMP_BLOCKTIME=infinite"}));
  EXPECT_EQ(std::getenv("MKL_CBWR"), nullptr);
  EXPECT_STREQ(std::getenv("KMP_BLOCKTIME"), "2");
  EXPECT_STREQ(std::getenv("OPENBLAS_THREAD_TIMEOUT"), "22");
}

TEST(Table, AlignsAndCuts) {
  Table table({"rung", "time"});
  table.add_row({"a", "1 ms"});
  table.add_row({"longer", "22 ms"});
  table.add_note("b", std::string(100, '-'));
  EXPECT_EQ(table.str(), "rung     time\na        1 ms\nlonger  22 ms\nb       " +
                             std::string(69, '-') + "...\n");
}

TEST(Table, CutsNamesWhereLinesWouldBeTooLong) {
  const std::string name(30, 'n'), cell(18, 'c');
  Table table({"rung", "a", "b", "c"});
  table.add_row({name, cell, cell, cell});
  table.add_row({"short", cell, cell, cell});
  std::istringstream text(table.str());
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_NE(table.str().find(std::string(20, 'n') + "... " + cell + " " + cell), std::string::npos)
      << table.str();
}

TEST(Table, FormatsThreeDigits) {
  EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(format_seconds(4.56e-8), "45.6 ns");
  EXPECT_EQ(format_rate(0.2714), "0.271");
  EXPECT_EQ(format_rate(1204.6), "1205");
  EXPECT_EQ(wrap("one two", 4), "    one two\n");
}

}  // namespace
}  // namespace rung
