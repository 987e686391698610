// The cache of measured ceilings: values that are implausible, damaged or exceeded by a rung are
// measured again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "device/cpu/machine.hpp"
#include "tools/measure/ceilings.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

Ceilings ceilings(double rate) {
  Ceilings all;
  for (const char* name : {"f32", "f64", "i32", "i8"})
    all.multiply_add.push_back({name, rate, rate});
  for (const char* name : {"L1", "L2", "DRAM"}) all.read.push_back({name, rate, rate});
  return all;
}

/// Fixture with an empty cache and a counted measurement.
class CeilingsCache : public testing::Test {
 protected:
  CeilingsCache()
      : folder_(fs::temp_directory_path() / ("rung_ceilings_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~CeilingsCache() override { fs::remove_all(folder_); }

  /// The f32 rate that the cache returns if the machine would now measure `rate`.
  double look(double rate, const std::vector<ReachedRate>& reached = {}) {
    const auto measure = [&] {
      ++measurements_;
      return ceilings(rate);
    };
    return cached_ceilings(false, reached, measure).multiply_add.front().one_thread;
  }

  fs::path file() const { return fs::directory_iterator(folder_ / "rung")->path(); }

  /// Replaces every rate in the file.
  void rewrite(const std::string& rate) {
    std::ifstream in(file());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::ofstream(file()) << std::regex_replace(text, std::regex("(_threads?\": )[0-9.e+-]+"),
                                                "$01" + rate);
  }

  fs::path folder_;
  int measurements_ = 0;
};

TEST_F(CeilingsCache, KeepsWhatWasMeasured) {
  EXPECT_EQ(look(100), 100);
  EXPECT_EQ(look(50), 100);
  EXPECT_EQ(measurements_, 1);
}

TEST_F(CeilingsCache, DoesNotBelieveWhatNoMachineDoes) {
  look(100);
  for (const char* rate : {"-1", "0", "0.01", "1e308", "1e6", "null", "\"100\""}) {
    rewrite(rate);
    measurements_ = 0;
    EXPECT_EQ(look(100), 100) << rate;
    EXPECT_EQ(measurements_, 1) << rate;
  }
}

TEST_F(CeilingsCache, DoesNotBelieveADamagedFile) {
  look(100);
  for (const char* text : {"", "[]", "{", "null", "{\"machine\": 1}"}) {
    std::ofstream(file()) << text;
    measurements_ = 0;
    EXPECT_EQ(look(100), 100) << text;
    EXPECT_EQ(measurements_, 1) << text;
  }
}

TEST_F(CeilingsCache, LooksAgainWhereARateIsPassed) {
  EXPECT_EQ(look(32), 32);                     // on a busy machine
  EXPECT_EQ(look(117, {{"f32", 1, 33}}), 32);  // noise
  EXPECT_EQ(look(117, {{"f64", 1, 20}, {"f32", 1, 90}}), 117);
  EXPECT_EQ(look(50), 117);  // and stores it
  EXPECT_EQ(measurements_, 2);
  EXPECT_EQ(look(50, {{"f32", cpu::available_threads(), 130}}), 117);  // the higher of both
  EXPECT_EQ(measurements_, 3);
}

TEST_F(CeilingsCache, AFolderInItsPlaceIsNoError) {
  look(100);
  const fs::path path = file();
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(look(70), 70);
  EXPECT_EQ(look(80), 80);
  EXPECT_EQ(measurements_, 3);
  // No temporary file is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "rung"), {}), 1);
}

}  // namespace
}  // namespace rung
