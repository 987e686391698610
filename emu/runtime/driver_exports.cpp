// The driver API under its own names, for programs that call it: each is the virtual driver's
// function, found when the program is loaded.

#include <fstream>
#include <iterator>
#include <string>

#include "emu/runtime/failed_calls.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/tensor_map_calls.hpp"

namespace cuda = rung::cuda;
using namespace rung::cuda;
using rung::emu::driver;

// A symbol's address is what its resolver returns (GCC's attribute ifunc), so that no function needs
// to be written out. Resolvers run before everything else: they return a function that asks for the
// driver when it is called.
namespace {

/// The name under which programs call a member: "cuMemFree".
template <auto Member>
constexpr const char* name_of = "";
#define RUNG_EMU_NAME(member, symbol, ...) \
  template <>                              \
  constexpr const char* name_of<&DriverApi::member> = #member;
RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_EMU_NAME)
#undef RUNG_EMU_NAME

[[gnu::noinline, gnu::cold]] void note(const char* name, Result result) {
  const char* error = nullptr;
  driver().cuGetErrorName(result, &error);
  rung::emu::note_failed_call({error == nullptr ? "an error" : error,
                               rung::emu::with_history(rung::emu::driver_message()),
                               {},
                               name},
                              rung::emu::CallSite::here());
}

template <auto Member>
struct Forward;
template <class... Arguments, FunctionPointer<Result(Arguments...)> DriverApi::* Member>
struct Forward<Member> {
  static Result call(Arguments... arguments) {
    const Result result = (driver().*Member)(arguments...);
    if (result != Result::success) note(name_of<Member>, result);
    return result;
  }
};

}  // namespace

extern "C" {

#define RUNG_EMU_EXPORT(member, symbol, ...)                                                   \
  using Signature_##member = __VA_ARGS__;                                                      \
  static Signature_##member* resolve_##member() { return &Forward<&DriverApi::member>::call; } \
  __attribute__((visibility("default"))) Signature_##member exported_##member __asm__(symbol)  \
      __attribute__((ifunc("resolve_" #member)));
RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_EMU_EXPORT)
#undef RUNG_EMU_EXPORT

#define RUNG_EMU_CALL extern __attribute__((visibility("default")))

RUNG_EMU_CALL Result cuDeviceComputeCapability(int* major, int* minor, Device device) {
  const Result result =
      driver().cuDeviceGetAttribute(major, DeviceAttribute::compute_capability_major, device);
  if (result != Result::success) return result;
  return driver().cuDeviceGetAttribute(minor, DeviceAttribute::compute_capability_minor, device);
}

RUNG_EMU_CALL Result cuModuleLoadFatBinary(Module* module, const void* image) {
  return driver().cuModuleLoadData(module, image);
}

RUNG_EMU_CALL Result cuTensorMapEncodeIm2col(TensorMap* map, TensorMapDataType type, unsigned rank,
                                             void* address, const std::uint64_t* sizes,
                                             const std::uint64_t* strides, const int* lower,
                                             const int* upper, std::uint32_t channels,
                                             std::uint32_t pixels, const std::uint32_t* steps,
                                             TensorMapInterleave interleave,
                                             TensorMapSwizzle swizzle, TensorMapL2Promotion,
                                             TensorMapFill fill) {
  const Result result = rung::vgpu::virtual_encode_im2col(
      map,
      {type, rank, address, sizes, strides, channels, pixels, steps, interleave, swizzle, fill},
      lower, upper);
  if (result != Result::success) note("cuTensorMapEncodeIm2col", result);
  return result;
}

/// `is_128` is a CUtensorMapIm2ColWideMode.
RUNG_EMU_CALL Result
cuTensorMapEncodeIm2colWide(TensorMap* map, TensorMapDataType type, unsigned rank, void* address,
                            const std::uint64_t* sizes, const std::uint64_t* strides, int lower,
                            int upper, std::uint32_t channels, std::uint32_t pixels,
                            const std::uint32_t* steps, TensorMapInterleave interleave, int is_128,
                            TensorMapSwizzle swizzle, TensorMapL2Promotion, TensorMapFill fill) {
  const Result result = rung::vgpu::virtual_encode_im2col_wide(
      map,
      {type, rank, address, sizes, strides, channels, pixels, steps, interleave, swizzle, fill},
      lower, upper, is_128 != 0);
  if (result != Result::success) note("cuTensorMapEncodeIm2colWide", result);
  return result;
}

/// A file of PTX, which rung-nvcc writes for -ptx, -cubin and -fatbin.
RUNG_EMU_CALL Result cuModuleLoad(Module* module, const char* name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return Result::file_not_found;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return driver().cuModuleLoadData(module, text.c_str());
}

}  // extern "C"
