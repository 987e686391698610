// The parts of the tool that need no compiler.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/reports/summary.hpp"

namespace rung::emu {
namespace {

TEST(ReadableName, DropsReturnTypeAndParameters) {
  EXPECT_EQ(readable_name("_Z3addPKfS0_Pfi"), "add");
  EXPECT_EQ(readable_name("_Z4treeILj256EEvPKiPii"), "tree<256u>");
  EXPECT_EQ(readable_name("gemm_cuda_00_naive_f32"), "gemm_cuda_00_naive_f32");
  EXPECT_EQ(readable_name("_ZN2ns1kEPFvvE"), "ns::k");
  EXPECT_EQ(readable_name("_ZZ7reversePiE6buffer"), "buffer");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_13dynE"), "(anonymous namespace)::dyn");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14statEPi"), "(anonymous namespace)::stat");
  EXPECT_EQ(readable_name("_Z5applyIZ4mainE3$_0EvT_"), "apply<main::$_0>");
  EXPECT_EQ(readable_name("_ZZ7reversePiE6buffer_$_1"), "buffer");
  EXPECT_EQ(readable_name("_ZZ3sumRU6SYhostKjPU8SYglobalKDF16_jE6shared_2"), "shared");
  EXPECT_EQ(with_readable_names("in _Z5applyIZ4mainE3$_0EvT_: 1"), "in apply<main::$_0>: 1");
  EXPECT_EQ(with_readable_names("at _ZZ7reversePiE6buffer + 4 of _Z7reversePi"),
            "at buffer + 4 of reverse");
}

TEST(MissingFunctions, AreThoseThatTheVirtualGpuDoesNotHave) {
  EXPECT_TRUE(
      missing_functions(".extern .func  (.param .b32 func_retval0) vprintf\n(\n)\n").empty());
  const auto missing = missing_functions(
      ".extern .func  (.param .b32 func_retval0) __nv_j0f\n(\n)\n.extern .func other\n(\n)\n");
  EXPECT_EQ(missing, (std::vector<std::string>{"j0f", "other"}));
}

TEST(MissingFunctions, OfATextThatIsNotPtxAreAnErrorWithItsLine) {
  try {
    missing_functions(".version 8.0\nmov.u32 `x;\n");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the program's PTX:2: unexpected character '`'");
  }
}

TEST(Process, TellsExitCodesSignalsAndWhatCannotRun) {
  EXPECT_EQ(run({"sh", "-c", "exit 5"}).code, 5);
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).signal, 15);
  EXPECT_EQ(
      run({"sh", "-c", "test \"$RUNG_TEST_VALUE\" = 'a b'"}, {{"RUNG_TEST_VALUE", "a b"}}).code, 0);
  EXPECT_THROW(run({"no-such-program-anywhere"}), std::runtime_error);
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_NE(find_program("sh"), "");
}

class Summary : public testing::Test {
 protected:
  Summary()
      : path_(std::filesystem::temp_directory_path() /
              ("rung_records_" + std::to_string(getpid()))) {}
  ~Summary() override { std::filesystem::remove(path_); }

  Records read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_records(path_);
  }

  std::filesystem::path path_;
};

std::string launch(const std::string& name, std::uint64_t loads, std::size_t hazards) {
  vgpu::LaunchReport report;
  report.kernel = name;
  report.grid = {4, 2, 1};
  report.block = {32, 1, 1};
  report.counters.global_load_requests = loads;
  report.counters.global_load_sectors = 4 * loads;
  vgpu::Hazard hazard{};
  hazard.kind = vgpu::HazardKind::out_of_bounds;
  hazard.kernel = name;
  hazard.message = "out of bounds: " + name + " reads too far";
  report.hazards.assign(hazards, hazard);
  return Json{{"launch", to_json(report)}}.dump() + "\n";
}

TEST_F(Summary, AddsUpLaunchesThatAreAlike) {
  const Records records = read(launch("_Z1kv", 1000, 0) + launch("_Z1kv", 500000, 1));
  EXPECT_EQ(records.launches.size(), 2u);
  const Reports reports = merge(records);
  ASSERT_EQ(reports.all().size(), 1u);
  EXPECT_EQ(describe(reports.all()[0]), "out of bounds: k reads too far");
  EXPECT_EQ(reports.all()[0].launches, (std::vector<std::size_t>{2}));
  const std::string text = launch_tables(records);
  EXPECT_NE(text.find("k        4x2     32      2"), std::string::npos) << text;
  EXPECT_NE(text.find("501k    4.00"), std::string::npos) << text;
}

TEST_F(Summary, LeavesOutNamespacesWithoutAName) {
  const std::string text = launch_tables(read(launch("_ZN12_GLOBAL__N_11kEv", 1000, 0)));
  EXPECT_NE(text.find("k        4x2     32      1"), std::string::npos) << text;
}

TEST_F(Summary, HasBulkCopiesWhereThereAreSome) {
  EXPECT_EQ(launch_tables(read(launch("k", 1, 0))).find("bulk"), std::string::npos);
  vgpu::LaunchReport report;
  report.kernel = "k";
  report.counters.bulk_loads = 24;
  report.counters.bulk_load_bytes = 262144;
  const std::string text = launch_tables(read(Json{{"launch", to_json(report)}}.dump() + "\n"));
  EXPECT_NE(text.find("bulk loads"), std::string::npos) << text;
  EXPECT_NE(text.find("262k"), std::string::npos) << text;
}

TEST_F(Summary, SkipsALineThatWasNotFinished) {
  const Records records = read(launch("k", 1, 0) + "{\"launch\": {\"na");
  EXPECT_EQ(records.launches.size(), 1u);
  EXPECT_EQ(to_json(records, merge(records)).at("kernels").size(), 1u);
}

TEST_F(Summary, NoFileIsAProgramWithoutADevice) {
  EXPECT_TRUE(read_records("/nowhere/records").launches.empty());
  EXPECT_EQ(launch_tables({}), "");
  EXPECT_EQ(failed_calls({}), "");
}

}  // namespace
}  // namespace rung::emu
