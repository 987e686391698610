#pragma once
// The library on a GPU, by default the virtual one: a primary context for each test, and device
// memory from vectors.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "counting_driver.hpp"
#include "library/cuda/driver.hpp"
#include "rung/rung.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung {

class CudaLibrary : public testing::Test {
 protected:
  void SetUp() override {
    static const cuda::Driver driver{.api = &cuda::counting_driver(),
                                     .takes_cubin = cuda::on_real_gpu()};
    cuda::use_driver(&driver);
    ASSERT_EQ(api.cuInit(0), cuda::Result::success);
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), cuda::Result::success);
    ASSERT_EQ(api.cuCtxSetCurrent(context), cuda::Result::success);
    refuse_hazards();
    cuda::driver_calls().clear();
  }
  void TearDown() override {
    vgpu::set_launch_observer({});
    api.cuCtxSetCurrent(nullptr);
    api.cuDevicePrimaryCtxReset(0);
    api.cuDevicePrimaryCtxRelease(0);
  }

  /// From now on, a launch with a hazard fails the test.
  static void refuse_hazards() {
    vgpu::set_launch_observer([](const vgpu::LaunchReport& report, const vgpu::Kernel&) {
      for (const vgpu::Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
    });
  }

  template <class T>
  T* on_device(const std::vector<T>& values) {
    cuda::DevicePointer pointer = 0;
    const std::size_t bytes = values.size() * sizeof(T);
    EXPECT_EQ(api.cuMemAlloc(&pointer, bytes), cuda::Result::success);
    EXPECT_EQ(api.cuMemcpyHtoD(pointer, values.data(), bytes), cuda::Result::success);
    return reinterpret_cast<T*>(pointer);
  }
  template <class T>
  std::vector<T> from_device(const T* data, std::size_t count) {
    std::vector<T> values(count);
    // Waits for non-blocking streams, too.
    EXPECT_EQ(api.cuCtxSynchronize(), cuda::Result::success);
    EXPECT_EQ(api.cuMemcpyDtoH(values.data(), reinterpret_cast<cuda::DevicePointer>(data),
                               count * sizeof(T)),
              cuda::Result::success);
    return values;
  }
  cuda::Stream new_stream() {
    cuda::Stream stream = nullptr;
    EXPECT_EQ(api.cuStreamCreate(&stream, cuda::stream_non_blocking), cuda::Result::success);
    return stream;
  }

  const cuda::DriverApi& api = cuda::tested_driver();
  cuda::Context context = nullptr;
};

/// The status and message of an exception thrown by f.
template <class F>
std::pair<Status, std::string> refusal(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Status::ok, "no error"};
}

inline const CudaStream default_stream(nullptr);

}  // namespace rung
