// The driver API in a program: a module from PTX text, launched by name.
#include <cuda.h>

#include <cstdio>

const char* const text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 to, .param .u32 value) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

int main() {
  cuInit(0);
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr memory;
  cuDeviceGet(&device, 0);
  int major = 0, minor = 0;
  cuDeviceComputeCapability(&major, &minor, device);
  cuCtxCreate(&context, 0, device);
  std::printf("%d ", cuModuleLoadData(&module, text));
  cuModuleGetFunction(&function, module, "fill");
  cuMemAlloc(&memory, 32 * sizeof(int));
  int value = 42, host[32] = {};
  void* arguments[] = {&memory, &value};
  cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  std::printf("%d ", cuCtxSynchronize());
  cuMemcpyDtoH(host, memory, sizeof(host));
  const char* name = nullptr;
  cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name);
  std::printf("%d %d.%d %s %d\n", host[31], major, minor, name,
              cuModuleGetFunction(&function, module, "none") == CUDA_ERROR_NOT_FOUND);
  cuMemFree(memory);
  cuModuleUnload(module);
  cuCtxDestroy(context);
}
