// nvcc's command line, as rung-nvcc and `rung emu` read it.

#include "emu/compile/nvcc_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rung::emu {
namespace {

using Words = std::vector<std::string>;
using Phase = NvccOptions::Phase;

TEST(NvccOptions, SortsSourcesAndOptions) {
  const NvccOptions options = parse_nvcc(
      {"-O3", "-std=c++20", "-Iinc", "-I", "more", "--define-macro", "A=1", "main.cu", "-Xptxas",
       "-v", "-lineinfo", "part.o", "-lm", "-lcudart", "-L/lib", "-o", "out"});
  EXPECT_EQ(options.phase, Phase::link);
  EXPECT_EQ(options.output, "out");
  ASSERT_EQ(options.compile.sources.size(), 2u);
  EXPECT_EQ(options.compile.sources[1], "part.o");
  EXPECT_EQ(options.compile.passed, (Words{"-std=c++20", "-Iinc", "-Imore", "-DA=1"}));
  EXPECT_EQ(options.compile.linked, (Words{"-lm", "-L/lib"}));  // cudart is in the runtime library
}

TEST(NvccOptions, ReadsOptionsThatMeanNothingHere) {
  const NvccOptions options = parse_nvcc(
      {"-ftemplate-depth", "900", "-t0", "-dopt=on", "-static-global-template-stub=false",
       "--Wno-deprecated-declarations", "-frandom-seed", "7", "-Xfatbin", "-compress-all", "--m64",
       "-jobserver", "-lcufft_static", "-lnppc", "a.cu"});
  EXPECT_EQ(options.compile.sources.size(), 1u);
  EXPECT_TRUE(options.compile.linked.empty());
}

TEST(NvccOptions, DefaultStreamsOfThreadsHaveTheirMacro) {
  EXPECT_EQ(parse_nvcc({"-default-stream=per-thread", "a.cu"}).compile.passed,
            (Words{"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"}));
  EXPECT_EQ(parse_nvcc({"--default-stream", "legacy", "a.cu"}).compile.passed, Words{});
}

TEST(NvccOptions, OpenMpWithoutARuntimeHasItsMacro) {
  NvccOptions options = parse_nvcc({"-Xcompiler", "-fopenmp", "a.cu"});
  finish_nvcc_options(options, "/nonexistent/clang++");
  EXPECT_EQ(options.compile.passed, (Words{"-D_OPENMP=201511"}));
  EXPECT_EQ(options.compile.linked,
            (Words{"-Wl,--push-state,--as-needed", "-lgomp", "-Wl,--pop-state"}));
}

TEST(NvccOptions, TakesTheNewestArchitectureInReach) {
  const auto architecture = [](const Words& words) {
    return parse_nvcc(words).compile.architecture;
  };
  EXPECT_EQ(architecture({"-arch=sm_70"}), "sm_70");
  EXPECT_EQ(architecture({"-gencode", "arch=compute_75,code=sm_75", "--generate-code",
                          "arch=compute_80,code=[compute_80,sm_80]"}),
            "sm_80");
  EXPECT_EQ(architecture({"-gencode=arch=compute_90a,code=sm_90a"}), "sm_90a");
  EXPECT_EQ(architecture({"-arch=sm_120", "-arch", "sm_35"}), "");
  EXPECT_EQ(architecture({"-arch=sm_100a"}), "sm_100a");
  EXPECT_EQ(architecture({"-gencode=arch=compute_103f,code=sm_103f"}), "sm_103a");
  EXPECT_EQ(architecture(
                {"-gencode=arch=compute_120a,code=sm_120a", "-gencode=arch=compute_80,code=sm_80"}),
            "sm_80");
}

TEST(NvccOptions, PhasesAndRelocatableCode) {
  EXPECT_EQ(parse_nvcc({"-c", "a.cu"}).phase, Phase::compile);
  EXPECT_TRUE(parse_nvcc({"-dc", "a.cu"}).compile.relocatable);
  EXPECT_TRUE(parse_nvcc({"-rdc=true", "a.cu"}).compile.relocatable);
  EXPECT_FALSE(parse_nvcc({"--relocatable-device-code", "false"}).compile.relocatable);
  EXPECT_EQ(parse_nvcc({"-dlink", "a.o"}).phase, Phase::device_link);
  EXPECT_EQ(parse_nvcc({"-ptx", "a.cu"}).phase, Phase::ptx);
  EXPECT_EQ(parse_nvcc({"-fatbin", "a.cu"}).phase, Phase::ptx);
  EXPECT_EQ(parse_nvcc({"--cubin", "a.cu"}).device_suffix, ".cubin");
  EXPECT_TRUE(parse_nvcc({"-x", "cu", "a.cpp"}).compile.all_cuda);
  EXPECT_EQ(parse_nvcc({"-MD", "-MF", "a.d", "-MT", "a.o"}).dependencies,
            (Words{"-MD", "-MF", "a.d", "-MT", "a.o"}));
}

TEST(NvccOptions, HostCompilerOptions) {
  const NvccOptions options =
      parse_nvcc({"-Xcompiler", "-fopenmp,-DX=2,-Wall", "-Xcompiler=-fPIC"});
  EXPECT_TRUE(options.openmp);
  EXPECT_EQ(options.compile.passed, (Words{"-DX=2"}));
}

TEST(NvccOptions, ListsHaveCommas) {
  const NvccOptions options =
      parse_nvcc({"-DA=1,B=2", "--define-macro", "C=\"x,y\",D=f\\,g", "-I", "a,b", "-lm,cudart,z"});
  EXPECT_EQ(options.compile.passed,
            (Words{"-DA=1", "-DB=2", "-DC=\"x,y\"", "-DD=f,g", "-Ia", "-Ib"}));
  EXPECT_EQ(options.compile.linked, (Words{"-lm", "-lz"}));
}

TEST(NvccOptions, FilesOfOptionsHaveQuotes) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("rung_options_" + std::to_string(getpid()) + ".rsp");
  std::ofstream(file) << "-I\"/a folder\" -DX=\\\"text\\\"\n\"-DY=1 2\"";
  const NvccOptions options = parse_nvcc({"--options-file", file.string()});
  std::filesystem::remove(file);
  EXPECT_EQ(options.compile.passed, (Words{"-I/a folder", "-DX=\"text\"", "-DY=1 2"}));
}

TEST(NvccOptions, ErrorsNameTheOption) {
  const auto message = [](const Words& words) -> std::string {
    try {
      parse_nvcc(words);
    } catch (const NvccUsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({"-o"}), "-o: expected a value");
  EXPECT_EQ(message({"--no-such-option"}), "--no-such-option: unknown option");
  EXPECT_EQ(message({"@/nowhere/options"}), "/nowhere/options: not a readable file");
}

}  // namespace
}  // namespace rung::emu
