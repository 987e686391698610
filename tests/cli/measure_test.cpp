// The parts that measurements are made of; no test here depends on how long anything takes.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <thread>

#include "backends/backend.hpp"
#include "core/rung.hpp"
#include "device/cpu/machine.hpp"
#include "tools/measure/bench.hpp"
#include "tools/measure/ceiling_kernels.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/peers/peer.hpp"
#include "tools/measure/quiet_machine.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/timing.hpp"
#include "tools/report/bench_table.hpp"
#include "tools/report/output_file.hpp"
#include "tools/report/table.hpp"

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

TEST(Statistics, RatiosThatVaryALotHaveNoMargin) {
  const std::vector<double> own = {1, 1, 1, 1, 1, 1};
  const Summary calm = paired_ratios(std::vector<double>{16, 16.1, 16.2, 16, 15.9, 16}, own);
  EXPECT_EQ(margin_of_ratio(calm), margin_of_median(calm));
  // The peer waited for a processor in some of its samples.
  const Summary wild = paired_ratios(std::vector<double>{1, 16, 17, 16, 2, 30}, own);
  EXPECT_GT(std::abs(wild.median - 1), margin_of_median(wild));
  EXPECT_TRUE(std::isinf(margin_of_ratio(wild)));
}

TEST(QuietMachine, SaysHowBusyOthersAre) {
  EXPECT_EQ(wait_for_quiet_machine(Dtype::f32, 1, 0.5), "") << "too short to look";
  std::atomic<bool> done = false;
  std::vector<std::thread> busy;
  for (int i = 0; i < 2 * cpu::available_threads(); ++i) {
    busy.emplace_back([&] {
      while (!done) asm volatile("" ::: "memory");
    });
  }
  const std::string line = wait_for_quiet_machine(Dtype::f32, 1, 1);
  done = true;
  for (std::thread& thread : busy) thread.join();
  if (!std::filesystem::exists("/proc/stat")) GTEST_SKIP() << "no /proc/stat";
  EXPECT_TRUE(line.starts_with("machine still busy after ")) << line;
  EXPECT_NE(line.find(" other programs use "), line.npos) << line;
}

TEST(BenchTable, SaysHowBusyOthersWere) {
  BenchRow row;
  row.name = row.slug = "05_micro_kernel";
  row.verdict.right = true;
  row.seconds = summarize(std::vector<double>{1, 1, 1, 1, 1});
  BenchResult result;
  result.op = "gemm";
  result.device = "cpu";
  row.peers = {{.peer = "openblas", .seconds = 16, .ratio = 16, .margin = 0.1}};
  result.rows = {row};
  result.processors = result.options.threads = 2;
  EXPECT_EQ(bench_table(result).find("load: "), std::string::npos) << bench_table(result);
  EXPECT_NE(bench_table(result).find(" 16.00x openblas"), std::string::npos);
  result.load_by_others = 0.3;
  EXPECT_NE(bench_table(result).find(" 16.00x openblas"), std::string::npos);
  result.load_by_others = 1.94;
  EXPECT_NE(bench_table(result).find(" ~16.00x openblas"), std::string::npos);
  EXPECT_NE(bench_table(result).find(
                "\nload: other programs used 1.9 of 2 processors; the figures are rough\n"),
            std::string::npos)
      << bench_table(result);
}

TEST(BenchTable, NamesWhatTheLibraryChoseInFull) {
  BenchRow library;
  library.kind = Kind::library;
  library.name = library.slug = "library";
  library.chose = "gemm/cpu/just_in_time";
  library.verdict = {.right = true, .max_error_ratio = 1.2e-5, .message = ""};
  library.seconds = summarize(std::vector<double>{0.0181, 0.0181, 0.0181, 0.0181, 0.0181});
  BenchResult result;
  result.op = "gemm";
  result.device = "cpu";
  result.counts_flops = true;
  result.flops = 2e9;
  result.rows = {library};
  EXPECT_NE(bench_table(result).find("\nlibrary: just_in_time 18.1 ms"), std::string::npos)
      << bench_table(result);
  result.rows.front().seconds =
      summarize(std::vector<double>{0.0081, 0.0101, 0.0181, 0.0481, 0.05});
  result.rows.front().previous = "07_direct";
  result.rows.front().previous_ratio = 1.02;
  result.rows.front().previous_margin = 1;
  result.rows.front().peers = {{.peer = "openblas", .seconds = 16, .ratio = 0.98, .margin = 1}};
  const std::string table = bench_table(result);
  EXPECT_EQ(table.find("..."), std::string::npos) << table;
  EXPECT_NE(table.find("\nlibrary  right; it chose just_in_time\n"), std::string::npos) << table;
}

TEST(BenchTable, SaysTheUnitOfErrors) {
  BenchRow row;
  row.name = row.slug = "05_micro_kernel";
  row.verdict.right = true;
  row.seconds = summarize(std::vector<double>{1, 1, 1, 1, 1});
  BenchResult result;
  result.op = "gemm";
  result.device = "cpu";
  result.rows = {row};
  EXPECT_NE(
      bench_table(result).find("\nerror: the largest of all elements, as a multiple of its bound"),
      std::string::npos)
      << bench_table(result);
}

// A slow sample between faster ones says that another program ran, not that the machine's limit is lower.
TEST(Bench, TheCeilingOfACpuIsItsBestSample) {
  BenchRequest request;
  request.op = "dot";
  request.size = {1, 100'000, 1};
  request.seconds = 0.02;
  request.backend = find_backend("cpu");
  request.rungs = select({"dot/cpu/01"});
  const BenchResult result = run_bench(request);
  const BenchRow& row = result.rows.front();
  ASSERT_TRUE(row.timed());
  EXPECT_DOUBLE_EQ(row.ceiling_ratio, result.bytes / row.seconds.median / result.ceiling_rate);
}

TEST(Bench, ReturnsWhatItHasWhenItIsStopped) {
  BenchRequest request;
  request.op = "dot";
  request.size = {1, 1000, 1};
  request.backend = find_backend("cpu");
  request.rungs = select({"dot/cpu/00", "dot/cpu/01"});
  request.with_library = false;
  int asked = 0;
  request.stopped = [&] { return ++asked > 1; };  // after the verification of the first
  const BenchResult result = run_bench(request);
  ASSERT_EQ(result.rows.size(), 2u);
  for (const BenchRow& row : result.rows) {
    EXPECT_FALSE(row.timed());
    EXPECT_EQ(row.skipped, "interrupted");
  }
}

TEST(Timing, TakesTheLeastNumberOfSamplesBeyondTheBudget) {
  const auto sleep = [](std::int64_t calls) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150) * calls);
  };
  const Candidate candidate = {{sleep}, 0.15};
  TimingOptions options;
  options.seconds = 0.2;
  EXPECT_EQ(time_interleaved({candidate}, options).front().seconds.size(), 2u);
  options.least_samples = 3;
  EXPECT_EQ(time_interleaved({candidate}, options).front().seconds.size(), 3u);
}

TEST(BenchTable, MarksWhatIsUncertain) {
  BenchRow row;
  row.name = row.slug = "05_micro_kernel";
  row.verdict.right = true;
  row.seconds = summarize(std::vector<double>{1, 1, 1, 1, 1});
  row.ceiling_ratio = 2.36;
  row.peers = {{.peer = "onednn",
                .seconds = 16,
                .ratio = 16,
                .margin = std::numeric_limits<double>::infinity()}};
  BenchResult result;
  result.op = "gemm";
  result.device = "cpu";
  result.counts_flops = true;
  result.ceiling = "f32 multiply-add";
  result.rows = {row};
  const std::string table = bench_table(result);
  EXPECT_NE(table.find(" ~236.0%"), table.npos) << table;
  EXPECT_NE(table.find(" ~16.00x onednn"), table.npos) << table;
  EXPECT_NE(table.find("\n~: uncertain: "), table.npos) << table;

  result.rows.front().ceiling_ratio = 0.9;
  result.rows.front().peers.front().margin = 0.1;
  EXPECT_EQ(bench_table(result).find('~'), std::string::npos) << bench_table(result);
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
