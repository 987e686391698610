#pragma once
// A context of the virtual driver for each test, and helpers to load and launch kernels.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "vgpu/driver/virtual_driver.hpp"

namespace rung::cuda {

inline void PrintTo(Result result, std::ostream* out) {
  const char* name = nullptr;
  vgpu::virtual_driver().cuGetErrorName(result, &name);
  *out << (name == nullptr ? "?" : name);
}

}  // namespace rung::cuda

namespace rung::vgpu {

using cuda::Result;

#define EXPECT_OK(call) EXPECT_EQ(call, Result::success) << virtual_driver_message()
#define ASSERT_OK(call) ASSERT_EQ(call, Result::success) << virtual_driver_message()

/// Makes the primary context current, and destroys it after the test.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(api.cuInit(0));
    ASSERT_OK(api.cuDevicePrimaryCtxRetain(&context, 0));
    ASSERT_OK(api.cuCtxSetCurrent(context));
    set_print_sink([this](const std::string& text) { printed += text; });
  }
  void TearDown() override {
    set_launch_observer({});
    set_launch_defaults({});
    EXPECT_OK(api.cuCtxSetCurrent(nullptr));
    EXPECT_OK(api.cuDevicePrimaryCtxReset(0));
    EXPECT_OK(api.cuDevicePrimaryCtxRelease(0));
    set_print_sink({});
  }

  cuda::DevicePointer allocate(std::size_t bytes) {
    cuda::DevicePointer pointer = 0;
    EXPECT_OK(api.cuMemAlloc(&pointer, bytes));
    return pointer;
  }
  cuda::Module load(const std::string& body, const std::string& target = "sm_75") {
    cuda::Module module = nullptr;
    const std::string text = ".version 7.0\n.target " + target + "\n.address_size 64\n" + body;
    EXPECT_OK(api.cuModuleLoadData(&module, text.c_str()));
    return module;
  }
  cuda::Function function(cuda::Module module, const char* name) {
    cuda::Function found = nullptr;
    EXPECT_OK(api.cuModuleGetFunction(&found, module, name));
    return found;
  }
  /// Launches a grid of one thread.
  Result launch(cuda::Function kernel, std::vector<void*> arguments = {},
                cuda::Stream stream = nullptr) {
    return api.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(), nullptr);
  }
  unsigned read(cuda::DevicePointer from) {
    unsigned value = 0;
    EXPECT_OK(api.cuMemcpyDtoH(&value, from, sizeof value));
    return value;
  }

  const cuda::DriverApi& api = virtual_driver();
  cuda::Context context = nullptr;
  std::string printed;
};

}  // namespace rung::vgpu
