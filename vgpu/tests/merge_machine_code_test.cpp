// Compares the model of merging with ptxas: counts shared accesses, by width, in its machine code
// for sm_80 and sm_90. Needs nvcc but no GPU.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/tests/machine_code.hpp"
#include "vgpu/tests/merge_cases.hpp"
#include "vgpu/tests/merge_counts.hpp"
#include "vgpu/tests/working_nvcc.hpp"

namespace rung::vgpu::merge_tests {
namespace {

namespace fs = std::filesystem;

class MergeMachineCode : public testing::Test {
 protected:
  void SetUp() override {
    if (working_nvcc().empty()) GTEST_SKIP() << "nvcc was not found";
    folder_ = fs::temp_directory_path() / ("rung_merge_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  fs::path file(const std::string& name) const { return folder_ / name; }

  static void nvcc(const std::string& arguments) {
    const std::string command = "'" RUNG_TEST_NVCC "' " + arguments;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  std::map<std::string, MemoryInstructions> assembled(const fs::path& ptx,
                                                      const std::string& arch) {
    const fs::path code = file("code_" + arch);
    nvcc("-cubin -arch=" + arch + " -o '" + code.string() + "' '" + ptx.string() + "'");
    std::ifstream stream(code, std::ios::binary);
    return memory_instructions({std::istreambuf_iterator<char>(stream), {}});
  }

 private:
  fs::path folder_;
};

Issued issued_by_ptxas(const MemoryInstructions& code) {
  Issued issued = {code.shared_loads, code.shared_stores};
  sort_down(issued);
  return issued;
}

std::string text_of(const Issued& issued) {
  std::map<std::string, int> counts;
  for (const int bytes : issued.loads) ++counts["load of " + std::to_string(bytes)];
  for (const int bytes : issued.stores) ++counts["store of " + std::to_string(bytes)];
  std::string text;
  for (const auto& [what, count] : counts) text += std::to_string(count) + " x " + what + ", ";
  return text;
}

class MergeSmallPieces : public MergeMachineCode {
 protected:
  /// Calls check(accesses issued by ptxas, case, architecture) for all cases.
  template <class Check>
  void for_each(const std::vector<MergeCase>& cases, const Check& check) {
    std::ofstream ptx(file("cases.ptx"));
    ptx << ptx_header;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ptx << kernel_of(cases[i], "case" + std::to_string(i));
    }
    ptx.close();
    for (const char* arch : {"sm_80", "sm_90"}) {
      auto code = assembled(file("cases.ptx"), arch);
      if (HasFatalFailure()) return;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        check(text_of(issued_by_ptxas(code["case" + std::to_string(i)])), cases[i], arch);
      }
    }
  }
};

TEST_F(MergeSmallPieces, AreIssuedAsTheModelSays) {
  for_each(merge_cases(), [](const std::string& by_ptxas, const MergeCase& each, const char* arch) {
    EXPECT_EQ(by_ptxas, text_of(each.issued)) << arch << ": " << each.name;
  });
}

TEST_F(MergeSmallPieces, WhereTheModelIsKnownToBeWrong) {
  for_each(mistaken_cases(),
           [](const std::string& by_ptxas, const MergeCase& each, const char* arch) {
             EXPECT_NE(by_ptxas, text_of(each.issued)) << arch << ": " << each.name;
           });
}

TEST_F(MergeMachineCode, Kernels) {
  const fs::path ptx = file("kernels.ptx");
  nvcc("-ptx -O3 -arch=compute_80 -o '" + ptx.string() + "' '" RUNG_MERGE_KERNELS "'");
  if (HasFatalFailure()) return;
  std::ifstream stream(ptx);
  const ptx::Module module = ptx::parse(std::string(std::istreambuf_iterator<char>(stream), {}));
  ASSERT_FALSE(module.functions.empty());
  for (const char* arch : {"sm_80", "sm_90"}) {
    auto code = assembled(ptx, arch);
    if (HasFatalFailure()) return;
    for (const ptx::Function& function : module.functions) {
      EXPECT_EQ(text_of(issued_by_model(module, function)),
                text_of(issued_by_ptxas(code[function.name])))
          << arch << ": " << function.name;
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::merge_tests
