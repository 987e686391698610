// rung-nvcc: objects, device links and programs that run by themselves.

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

class RungNvcc : public testing::Test {
 protected:
  RungNvcc() : folder_(fs::temp_directory_path() / ("rung_nvcc_test_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~RungNvcc() override { fs::remove_all(folder_); }

  /// Returns the command's output. `$NVCC` is the compiler, and `$FILES` the folder of the sources.
  std::string run(const std::string& command) const {
    setenv("NVCC", RUNG_NVCC, 1);
    setenv("FILES", RUNG_EMU_PROGRAMS "/programs/several_files", 1);
    std::FILE* const pipe =
        popen(("cd '" + folder_.string() + "' && " + command + " 2>&1").c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) text += "(failed)";
    return text;
  }

  fs::path folder_;
};

TEST_F(RungNvcc, SeparateCompilation) {
  EXPECT_EQ(run("$NVCC -dc -arch=sm_80 $FILES/main.cu -o main.o && "
                "$NVCC -dc -arch=sm_80 $FILES/device_part.cu -MD -MF device.d && "
                "$NVCC -c $FILES/host_part.cpp && ar rcs libparts.a device_part.o host_part.o && "
                "$NVCC -arch=sm_80 main.o libparts.a -o program && ./program"),
            "157 19 cudaSuccess\n");
  EXPECT_EQ(run("$NVCC -lib -rdc=true -arch=sm_80 $FILES/device_part.cu $FILES/host_part.cpp "
                "-o both.a && $NVCC -arch=sm_80 main.o both.a -o third && ./third"),
            "157 19 cudaSuccess\n");
  EXPECT_NE(run("cat device.d").find("parts.h"), std::string::npos);
  // Archives in any order, also as -lNAME.
  EXPECT_EQ(run("$NVCC -arch=sm_80 libparts.a main.o -o fourth && ./fourth && "
                "$NVCC -arch=sm_80 -L. -lparts main.o -lparts -o fifth && ./fifth"),
            "157 19 cudaSuccess\n157 19 cudaSuccess\n");
  // A separate device link; any host linker does the rest.
  EXPECT_EQ(run("$NVCC -dlink main.o libparts.a -o linked.o && "
                "$NVCC main.o linked.o libparts.a -o again && ./again"),
            "157 19 cudaSuccess\n");
  // CUDA_RESOLVE_DEVICE_SYMBOLS also links objects without relocatable device code.
  EXPECT_EQ(run("$NVCC -c $FILES/../vector_add.cu && $NVCC -dlink vector_add.o -o none.o && "
                "$NVCC vector_add.o none.o -o adds && ./adds"),
            run("$NVCC $FILES/../vector_add.cu -o adds && ./adds"));
}

// CUDA_RESOLVE_DEVICE_SYMBOLS for static libraries: the host's linker must extract the device link
// from each archive, and each archive has its own kernels.
TEST_F(RungNvcc, DeviceLinksInArchives) {
  EXPECT_EQ(
      run("mkdir -p links; for name in first second; do echo \"#include <cstdio>\n"
          "__device__ int ${name}_value() { return sizeof(\\\"$name\\\"); }\n"
          "__global__ void $name(int* at) { *at = ${name}_value(); }\n"
          "int run_$name() { int* at; int found = 0; cudaMalloc(&at, 4); $name<<<1, 1>>>(at); "
          "cudaMemcpy(&found, at, 4, cudaMemcpyDeviceToHost); cudaFree(at); return found; }\" "
          ">$name.cu; $NVCC -dc $name.cu && $NVCC -dlink $name.o -o links/of_$name.o && "
          "ar rcs lib$name.a $name.o links/of_$name.o; done; "
          "echo 'int run_first(); int run_second(); "
          "int main() { return run_first() * 10 + run_second() - 67; }' >main.cpp && "
          "$NVCC --make-toolkit-folder kit && "
          "g++ main.cpp libfirst.a libsecond.a -Lkit/lib64 -lcudart -o links/both && "
          "LD_LIBRARY_PATH=kit/lib64 links/both"),
      "");
}

TEST_F(RungNvcc, CMakeLinksTargetsOfTwoLanguages) {
  EXPECT_EQ(run("cmake -S $FILES/../mixed_project -B build -DCMAKE_CUDA_COMPILER=$NVCC >log && "
                "cmake --build build >>log && build/mixed || cat log"),
            "42 0x1.554p-1 inf\n");
}

TEST_F(RungNvcc, FolderOfAToolkit) {
  EXPECT_EQ(run("$NVCC --make-toolkit-folder toolkit && "
                "toolkit/bin/nvcc -c $FILES/../vector_add.cu -o adds.o && "
                "g++ adds.o -o adds -Ltoolkit/lib64 -lcudart && "
                "LD_LIBRARY_PATH=toolkit/lib64 ./adds"),
            run("$NVCC $FILES/../vector_add.cu -o same && ./same"));
  EXPECT_NE(run("$NVCC --make-toolkit-folder toolkit").find("File exists"), std::string::npos);
}

TEST_F(RungNvcc, LinksObjectsWithTheOpenMpOfGcc) {
  EXPECT_EQ(run("echo 'int threads() { int n = 0;\n#pragma omp parallel reduction(+ : n)\n n = 1; "
                "return n; }' >many.cpp && g++ -fopenmp -c many.cpp && "
                "echo 'int threads(); int main() { return threads() != 2; }' >main.cu && "
                "$NVCC -Xcompiler -fopenmp main.cu many.o -o many && OMP_NUM_THREADS=2 ./many"),
            "");
}

// Compute capabilities before 7.0 have cooperative groups, and neither match.sync nor nanosleep.
TEST_F(RungNvcc, CooperativeGroupsOfOldArchitectures) {
  EXPECT_EQ(run("echo '#include <cooperative_groups.h>\n#include <cstdio>\n"
                "__global__ void ranks(int* at) { cooperative_groups::grid_group all = "
                "cooperative_groups::this_grid(); at[all.thread_rank()] = 1; all.sync(); "
                "if (threadIdx.x == 0 && blockIdx.x == 0) printf(\"%d\", at[31] + at[63]); }\n"
                "int main() { int* at; cudaMalloc(&at, 256); void* arguments[] = {&at}; "
                "cudaLaunchCooperativeKernel(ranks, dim3(2), dim3(32), arguments); "
                "return cudaDeviceSynchronize() + cudaFree(at); }' >old.cu && "
                "$NVCC -arch=sm_60 old.cu -o old && ./old"),
            "2");
}

// The libraries of a toolkit are ignored. Here, a call of their cudaMalloc would end the program.
TEST_F(RungNvcc, LibrariesOfAToolkitArePassedOver) {
  ASSERT_EQ(
      run("mkdir lib64 && echo 'extern \"C\" int cudaMalloc(void**, unsigned long) { "
          "__builtin_trap(); }' "
          ">cudart.cpp && g++ -c -fPIC cudart.cpp && ar rcs lib64/libcudart_static.a cudart.o && "
          "g++ -shared cudart.o -o lib64/libcudart.so && mkdir lib64/stubs && "
          "cp lib64/libcudart.so lib64/stubs/libcuda.so && $NVCC -c $FILES/../vector_add.cu"),
      "");
  const std::string expected = run("$NVCC vector_add.o -o same && ./same");
  for (const std::string libraries :
       {"-Llib64 -lcudart", "-Llib64 -lcudart_static -ldl -lrt", "lib64/libcudart.so",
        "$PWD/lib64/libcudart_static.a", "lib64/stubs/libcuda.so"}) {
    EXPECT_EQ(run("$NVCC vector_add.o " + libraries + " -o adds && ./adds"), expected) << libraries;
    EXPECT_EQ(run("$NVCC " + libraries + " vector_add.o -o adds && ./adds"), expected) << libraries;
  }
  EXPECT_NE(run("g++ vector_add.o lib64/libcudart.so -o adds")
                .find("`rung_emu_is_missing__link_by_rung_nvcc_or_with_its_toolkit_folder'"),
            std::string::npos);
}

TEST_F(RungNvcc, VariablesThatCannotBeRead) {
  ASSERT_EQ(run("$NVCC $FILES/../vector_add.cu -o adds"), "");
  const auto with = [&](const std::string& setting) { return run(setting + " ./adds"); };
  EXPECT_EQ(with("RUNG_EMU_THREADS=x"),
            "rung emu: RUNG_EMU_THREADS: 'x' is not an integer from 1 to 1024\n(failed)");
  EXPECT_EQ(with("RUNG_EMU_THREADS=0"),
            "rung emu: RUNG_EMU_THREADS: '0' is not an integer from 1 to 1024\n(failed)");
  EXPECT_NE(with("RUNG_EMU_LIMIT=-1").find("RUNG_EMU_LIMIT: '-1' is not an integer from 1"),
            std::string::npos);
  EXPECT_NE(with("RUNG_EMU_LAUNCHES=3x").find("RUNG_EMU_LAUNCHES: '3x' is not an integer from 1"),
            std::string::npos);
  EXPECT_EQ(with("RUNG_EMU_DEVICES=17"),
            "rung emu: RUNG_EMU_DEVICES: '17' is not an integer from 1 to 16\n(failed)");
  EXPECT_EQ(with("RUNG_EMU_THREADS="), with(""));
}

TEST_F(RungNvcc, AnswersLikeNvcc) {
  EXPECT_NE(run("$NVCC --version").find("release 12.4"), std::string::npos);
  EXPECT_NE(
      run("$NVCC -ptx -rdc=false $FILES/../vector_add.cu && cat vector_add.ptx").find(".entry"),
      std::string::npos);
  EXPECT_EQ(run("$NVCC --dryrun x.cu").find("#$ TOP="), 0u);
  EXPECT_EQ(run("mkdir -p objects && $NVCC -c -odir objects $FILES/../vector_add.cu && ls objects"),
            "vector_add.o\n");
  EXPECT_EQ(run("$NVCC --list-gpu-code | tail -1"), "sm_90\n");
  EXPECT_EQ(run("$NVCC -o program"), "rung-nvcc: no input files\n(failed)");
  EXPECT_EQ(run("$NVCC --nonsense a.cu"), "rung-nvcc: --nonsense: unknown option\n(failed)");
  EXPECT_EQ(run("RUNG_CLANG= PATH=/nonexistent $NVCC -c a.cu 2>&1 || echo $?"),
            "rung-nvcc: clang++-19 is not on the PATH; it comes with package clang-19\n3\n");
}

}  // namespace
}  // namespace rung
