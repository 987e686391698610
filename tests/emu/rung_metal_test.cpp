// rung-metal: Metal programs in C++ and their build systems.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace rung {
namespace {

namespace fs = std::filesystem;

/// Output of a shell command in `folder`, with "(CODE)" after it unless the code is 0. `$METAL` is the
/// compiler, and `$FILES` the folder of the sources.
std::string run(const fs::path& folder, const std::string& command) {
  setenv("METAL", RUNG_METAL, 1);
  setenv("FILES", RUNG_METAL_PROGRAMS, 1);
  std::FILE* const pipe =
      popen(("cd '" + folder.string() + "' && " + command + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = pclose(pipe);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == 0 ? text : text + "(" + std::to_string(code) + ")";
}

class RungMetal : public testing::Test {
 protected:
  RungMetal()
      : folder_(fs::temp_directory_path() / ("rung_metal_test_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~RungMetal() override { fs::remove_all(folder_); }

  std::string run(const std::string& command) const { return rung::run(folder_, command); }

  fs::path folder_;
};

TEST_F(RungMetal, EachClass) {
  EXPECT_EQ(run("$METAL $FILES/classes.cpp $FILES/kernels.metal -o classes && ./classes"),
            "all right\n");
}

TEST_F(RungMetal, Makefile) {
  EXPECT_EQ(run("cp -r $FILES/project . && cd project && $METAL --make-toolkit-folder ../kit && "
                "PATH=$PWD/../kit/bin:$PATH make -s && ./adder"),
            "8\n");
}

TEST_F(RungMetal, CMake) {
  EXPECT_EQ(
      run("$METAL --make-toolkit-folder kit && export PATH=$PWD/kit/bin:$PATH && "
          "(cmake -S $FILES/project -B build -DCMAKE_PREFIX_PATH=$PWD/kit "
          "-DCMAKE_CXX_COMPILER=clang++ && cmake --build build) >log || cat log; build/adder"),
      "8\n");
}

TEST_F(RungMetal, ErrorsOfTheCompiler) {
  const std::string text =
      run("echo 'kernel void k(device float* x) { x[0] = y; }' >bad.metal && "
          "$METAL metal -c bad.metal");
  EXPECT_NE(text.find("error: use of undeclared identifier 'y'"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("(1)")) << text;
  EXPECT_EQ(run("echo x >other.metallib && $METAL metallib other.metallib -o out.metallib"),
            "rung-metal: other.metallib: not a library of rung-metal; a library that Apple's "
            "compiler made "
            "has no text: compile its source with rung-metal\n(1)");
}

/// Programs with one mistake each.
class MetalFaults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = fs::temp_directory_path() / ("rung_metal_faults_" + std::to_string(getpid()));
    fs::create_directory(folder());
    ASSERT_EQ(rung::run(folder(), "$METAL $FILES/faults.cpp $FILES/kernels.metal -o faults"), "");
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }
  static fs::path& folder() {
    static fs::path folder;
    return folder;
  }

  static void expect(const std::string& fault, std::initializer_list<const char*> parts,
                     int code = 1) {
    const std::string text = rung::run(folder(), "./faults " + fault);
    for (const char* part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << fault << " lacks '" << part << "':\n"
                                                    << text;
    }
    EXPECT_EQ(text.ends_with("(1)"), code == 1) << text;
  }
};

TEST_F(MetalFaults, Order) {
  expect("concurrent", {"unordered operations: kernel fill (faults.cpp:26, concurrent compute "
                        "encoder encoder) writes data",
                        "nothing orders them", "memoryBarrier(MTL::BarrierScopeBuffers)"});
  expect("barrier", {}, 0);
  expect("untracked",
         {"compute encoder first) writes data", "compute encoder second) writes it", "MTL::Fence"});
  expect("tracked", {}, 0);
  expect("early", {"kernel scale", "the CPU (faults.cpp:68) reads it", "waitUntilCompleted"});
}

TEST_F(MetalFaults, Validation) {
  expect("binding", {"Compute Function(scale): missing Buffer binding at index 0 for data[0]."});
  expect("short", {"has space for 4 bytes, but argument has a length(8)"});
  expect(
      "threads",
      {"threadsPerThreadgroup.depth(1))(2048) must be <= 1024. (device threadgroup size limit)"});
  expect("open", {"commit command buffer with uncommitted encoder"});
  expect("twice", {"commit an already committed command buffer"});
  expect("beyond", {"out of bounds", "of threadgroup (0,0,0)", "Caused GPU Address Fault Error"});
}

TEST_F(MetalFaults, References) {
  expect("over", {"over-release: MTL::Buffer made at faults.cpp:", "is released at faults.cpp:"});
  expect("released",
         {"MTL::Buffer made at faults.cpp:", "is used after its last reference was released"});
  expect("leak", {"leak: MTL::Buffer made at faults.cpp:", "was never released"}, 0);
  expect("fine", {}, 0);
}

}  // namespace
}  // namespace rung
