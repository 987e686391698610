// A kernel from a string, and one that does not compile.
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <nvrtc.h>

const char* const source = R"(
#include "offset.h"
template <class T>
__global__ void add(T* values, T value) { values[threadIdx.x] += value * SCALE + offset; }
)";

int main() {
  const char* const header = "constexpr int offset = 100;\n";
  const char* const name = "offset.h";
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source, "add.cu", 1, &header, &name);
  nvrtcAddNameExpression(program, "add<int>");
  const std::vector<const char*> options = {"--gpu-architecture=compute_80", "-DSCALE=2",
                                            "--std=c++17"};
  const nvrtcResult result = nvrtcCompileProgram(program, int(options.size()), options.data());
  size_t bytes = 0;
  nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, '\0');
  nvrtcGetProgramLog(program, log.data());
  printf("%s%s\n", nvrtcGetErrorString(result), bytes > 1 ? log.c_str() : "");
  const char* symbol = "";
  nvrtcGetLoweredName(program, "add<int>", &symbol);
  nvrtcGetPTXSize(program, &bytes);
  std::string ptx(bytes, '\0');
  nvrtcGetPTX(program, ptx.data());

  cudaFree(nullptr);
  CUmodule module;
  CUfunction function;
  cuModuleLoadData(&module, ptx.c_str());
  cuModuleGetFunction(&function, module, symbol);
  int* values = nullptr;
  cudaMallocManaged(&values, 4 * sizeof(int));
  for (int i = 0; i < 4; ++i) values[i] = i;
  int value = 7;
  void* arguments[] = {&values, &value};
  cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr);
  cudaDeviceSynchronize();
  printf("%s %d %d\n", symbol, values[0], values[3]);
  cudaFree(values);
  nvrtcDestroyProgram(&program);

  nvrtcCreateProgram(&program, "__global__ void k() { nothing(); }", nullptr, 0, nullptr, nullptr);
  printf("%s", nvrtcGetErrorString(nvrtcCompileProgram(program, 0, nullptr)));
  nvrtcGetProgramLogSize(program, &bytes);
  log.assign(bytes, '\0');
  nvrtcGetProgramLog(program, log.data());
  printf(" %d\n", log.find("default_program:1:") != std::string::npos);
  nvrtcDestroyProgram(&program);
}
