// `rung emu` reuses the objects of unchanged sources.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace rung {
namespace {

namespace fs = std::filesystem;

class CachedPrograms : public testing::Test {
 protected:
  CachedPrograms()
      : folder_(fs::temp_directory_path() / ("rung_cached_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
    // A compiler that records its calls.
    write("clang", std::string("#!/bin/sh\necho called >> '") + path("calls") +
                       "'\nexec " RUNG_TEST_CLANG " \"$@\"\n");
    fs::permissions(path("clang"), fs::perms::owner_all);
    write("main.cu", R"(
#include <cstdio>
#include "value.h"
#ifndef EXTRA
#define EXTRA 0
#endif
__global__ void set(int* value) { *value = VALUE + EXTRA; }
int main() {
  int* value;
  cudaMallocManaged(&value, sizeof(int));
  set<<<1, 1>>>(value);
  cudaDeviceSynchronize();
  std::printf("%d", *value);
  cudaFree(value);
}
)");
    write("value.h", "#define VALUE 1\n");
  }
  ~CachedPrograms() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  struct Run {
    std::string printed;
    std::ptrdiff_t compiler_calls = 0;

    bool operator==(const Run&) const = default;
  };
  Run run(const std::string& options = "") const {
    fs::remove(path("calls"));
    const std::string command = "cd '" + folder_.string() + "' && RUNG_CLANG='" + path("clang") +
                                "' RUNG_EMU_CACHE='" + path("cache") + "' " RUNG_PROGRAM " emu " +
                                options + " main.cu >out 2>err";
    EXPECT_EQ(std::system(command.c_str()), 0) << read("err");
    const std::string calls = read("calls");
    return {read("out"), std::count(calls.begin(), calls.end(), '\n')};
  }

  fs::path folder_;
};

TEST_F(CachedPrograms, AreCompiledAgainWhenSomethingChanges) {
  // For the device three times, for the host, and to link.
  EXPECT_EQ(run(), (Run{"1", 5}));
  EXPECT_EQ(run(), (Run{"1", 1}));
  write("value.h", "#define VALUE 2\n");
  EXPECT_EQ(run(), (Run{"2", 5}));
  EXPECT_EQ(run("-DEXTRA=5"), (Run{"7", 5}));
  EXPECT_EQ(run("-DEXTRA=5"), (Run{"7", 1}));
  EXPECT_EQ(run(), (Run{"2", 1}));
  EXPECT_EQ(run("--no-cache"), (Run{"2", 5}));
}

}  // namespace
}  // namespace rung
