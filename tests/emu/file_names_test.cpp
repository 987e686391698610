// Commands accept files of any name, and print these names in their reports.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace rung {
namespace {

namespace fs = std::filesystem;

// Two threads write each element. The cast is one that `rung emu` rewrites.
constexpr const char* racy_program = R"(
__global__ void k(float* p) {
  if (threadIdx.x > 99) *(float4*)p = float4{};
  p[threadIdx.x / 2] = threadIdx.x;
}
int main() {
  float* p;
  cudaMalloc(&p, 400);
  k<<<1, 64>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}
)";

class FileNames : public testing::TestWithParam<const char*> {
 protected:
  FileNames()
      : folder_(fs::temp_directory_path() / ("rung_names_" + std::to_string(getpid()))),
        name_(GetParam()) {
    fs::create_directory(folder_);
    std::ofstream(folder_ / name_) << racy_program;
    setenv("RUNG", RUNG_PROGRAM, 1);
    setenv("NVCC", RUNG_NVCC, 1);
    setenv("NAME", name_.c_str(), 1);
  }
  ~FileNames() override { fs::remove_all(folder_); }

  /// Runs the command and returns its exit code. Its output goes to the files `out` and `err`.
  int run(const std::string& command) const {
    const std::string in_folder =
        "cd '" + folder_.string() + "' && { " + command + "; } >out 2>err </dev/null";
    return WEXITSTATUS(std::system(in_folder.c_str()));
  }
  std::string text_of(const char* file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  std::string name_;
};

TEST_P(FileNames, InReports) {
  EXPECT_EQ(run("\"$RUNG\" emu \"$NAME\" --gen-suppressions --json j --junit x --sarif s 2>said"),
            1);
  std::string shown = name_ + ":4";
  if (const auto at = shown.find('\xff'); at != shown.npos) shown.replace(at, 1, "\uFFFD");
  EXPECT_NE(text_of("said").find(shown), std::string::npos) << text_of("said");
  EXPECT_FALSE(nlohmann::json::parse(text_of("j")).at("reports").empty());
  EXPECT_FALSE(nlohmann::json::parse(text_of("s")).empty());
  EXPECT_NO_THROW((void)nlohmann::json(text_of("x")).dump()) << "JUnit's XML is no UTF-8";
  // The printed suppressions are accepted and match.
  EXPECT_EQ(run("sed -n '/^{/,/^}/p' said >kept; \"$RUNG\" emu \"$NAME\" --suppressions kept"), 0)
      << text_of("err");
}

TEST_P(FileNames, OfCompilers) {
  EXPECT_EQ(run("\"$NVCC\" -rdc=true -c \"$NAME\" -o \"$NAME.o\" && "
                "\"$NVCC\" \"$NAME.o\" -o \"$NAME.program\" && ./\"$NAME.program\""),
            0)
      << text_of("err");
}

TEST_P(FileNames, InExplanations) {
  EXPECT_EQ(run("\"$RUNG\" explain \"$NAME\" --json j"), 1) << text_of("err");  // for the race
  EXPECT_FALSE(nlohmann::json::parse(text_of("j")).at("hazards").empty());
}

INSTANTIATE_TEST_SUITE_P(Odd, FileNames,
                         testing::Values("q\"u'o`te\n$x \\ %s;#{}.cu", "carriage\rreturn\t\x01.cu",
                                         "inv\xff"
                                         "alid.cu"),
                         [](const auto& name) { return std::to_string(name.index); });

TEST(TemporaryFolders, AreInTmpUnlessTmpdirSaysWhere) {
  const std::string program = RUNG_EMU_PROGRAMS "/programs/reductions.cu";
  const auto run = [&](const std::string& tmpdir, const std::string& command) {
    const std::string line = "TMPDIR='" + tmpdir + "' " + command + " '" + program + "' 2>&1";
    std::FILE* const pipe = popen(line.c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    return std::to_string(WEXITSTATUS(pclose(pipe))) + " " + text;
  };
  const std::string emu = "'" RUNG_PROGRAM "' emu", nvcc = "'" RUNG_NVCC "' -o /dev/null";
  EXPECT_EQ(run("", nvcc), "0 ");
  EXPECT_EQ(run("", emu).substr(0, 2), "0 ");
  const std::string reason =
      "no temporary folder can be made in /nowhere: No such file or directory; set TMPDIR to a "
      "folder that can be written\n";
  EXPECT_EQ(run("/nowhere", nvcc), "1 rung-nvcc: " + reason);
  EXPECT_NE(run("/nowhere", emu).find(reason), std::string::npos);
}

}  // namespace
}  // namespace rung
