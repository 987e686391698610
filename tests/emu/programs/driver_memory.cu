// Virtual memory management, the linker of PTX, libraries, launches of CUDA 3, arrays and copies of
// three dimensions by the driver API.
#include <cuda.h>

#include <cstdio>
#include <cstring>

const char* const fill_text = R"(.version 7.0
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
const char* const empty_text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() {
  ret;
}
)";

int first_of(CUdeviceptr memory) {
  int found = 0;
  cuMemcpyDtoH(&found, memory, sizeof(found));
  return found;
}

void map_memory(CUfunction fill) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t bytes = 0;
  cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CUdeviceptr small, large;
  CUmemGenericAllocationHandle one, other;
  cuMemAddressReserve(&small, bytes, 0, 0, 0);
  cuMemAddressReserve(&large, 2 * bytes, 0, 0, 0);
  cuMemCreate(&one, bytes, &properties, 0);
  cuMemCreate(&other, bytes, &properties, 0);
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  cuMemMap(small, bytes, 0, one, 0);
  cuMemSetAccess(small, bytes, &access, 1);
  int value = 5;
  void* arguments[] = {&small, &value};
  cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
  const CUresult twice = cuMemMap(large, bytes, 0, one, 0);
  // The larger range maps the same memory, with the values written before.
  cuMemUnmap(small, bytes);
  cuMemMap(large, bytes, 0, one, 0);
  cuMemMap(large + bytes, bytes, 0, other, 0);
  cuMemSetAccess(large, 2 * bytes, &access, 1);
  unsigned long long flags = 0;
  cuMemGetAccess(&flags, &access.location, large + bytes + 8);
  const CUresult early = cuMemAddressFree(large, 2 * bytes);
  std::printf("%zu %d %d %llu %d ", bytes >> 20, first_of(large), twice, flags, early);
  cuMemRelease(one);
  cuMemRelease(other);
  cuMemUnmap(large, 2 * bytes);
  std::printf("%d %d %d\n", cuMemAddressFree(large, 2 * bytes), cuMemAddressFree(small, bytes),
              cuMemRelease(one));
}

void copy_boxes() {
  CUDA_ARRAY3D_DESCRIPTOR description = {4, 3, 2, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray array;
  cuArray3DCreate(&array, &description);
  float host[24], back[24] = {};
  for (int i = 0; i < 24; ++i) host[i] = static_cast<float>(i);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 16;
  copy.srcHeight = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 16;
  copy.Height = 3;
  copy.Depth = 2;
  cuMemcpy3D(&copy);
  CUDA_MEMCPY2D rows = {};
  rows.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  rows.srcArray = array;
  rows.srcXInBytes = 4;
  rows.srcY = 1;
  rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  rows.dstHost = back;
  rows.dstPitch = 8;
  rows.WidthInBytes = 8;
  rows.Height = 2;
  cuMemcpy2D(&rows);
  CUDA_ARRAY3D_DESCRIPTOR found;
  cuArray3DGetDescriptor(&found, array);
  std::printf("%g %g %g %g, %zu %d\n", back[0], back[1], back[2], back[3], found.Depth,
              found.Format == CU_AD_FORMAT_FLOAT);
  cuArrayDestroy(array);
}

int main() {
  cuInit(0);
  CUdevice device;
  CUcontext context;
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, 0, device);

  char log[64] = "not written";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER};
  void* values[] = {log};
  CUlinkState linker;
  cuLinkCreate(1, options, values, &linker);
  for (const char* text : {empty_text, fill_text}) {
    cuLinkAddData(linker, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "a", 0,
                  nullptr, nullptr);
  }
  void* image;
  std::size_t bytes;
  cuLinkComplete(linker, &image, &bytes);
  CUlibrary library;
  CUkernel kernel;
  CUfunction fill, nothing;
  cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cuLinkDestroy(linker);
  cuLibraryGetKernel(&kernel, library, "fill");
  cuKernelGetFunction(&fill, kernel);
  const CUresult both =
      cuLibraryGetKernel(reinterpret_cast<CUkernel*>(&nothing), library, "nothing");

  CUdeviceptr memory;
  cuMemAlloc(&memory, 128);
  cuFuncSetBlockShape(fill, 32, 1, 1);
  cuParamSetv(fill, 0, &memory, sizeof(memory));
  cuParamSeti(fill, 8, 7);
  cuParamSetSize(fill, 12);
  cuLaunchGrid(fill, 1, 1);
  std::printf("%d %d '%s'\n", first_of(memory), both, log);

  map_memory(fill);
  copy_boxes();

  int supported = 0, width = 0;
  cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
  cuDeviceGetAttribute(&width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, device);
  CUipcMemHandle handle;
  cuStreamWriteValue32(nullptr, memory, 3, 0);
  std::printf("%d %d %d %d %d\n", supported, width, cuIpcGetMemHandle(&handle, memory),
              cuStreamWaitValue32(nullptr, memory, 3, CU_STREAM_WAIT_VALUE_EQ),
              cuStreamWaitValue32(nullptr, memory, 4, CU_STREAM_WAIT_VALUE_GEQ));
  cuMemFree(memory);
  cuLibraryUnload(library);
  cuCtxDestroy(context);
}
