// Initialisation, errors, devices and contexts.

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "vgpu/tests/driver_fixture.hpp"

namespace rung::vgpu {
namespace {

using cuda::DeviceAttribute;
using cuda::Limit;

int before_cu_init() {
  const cuda::DriverApi& api = virtual_driver();
  int value = 0;
  cuda::Context context = nullptr;
  const bool right = api.cuDeviceGetCount(&value) == Result::not_initialized &&
                     api.cuCtxSynchronize() == Result::not_initialized &&
                     api.cuCtxGetCurrent(&context) == Result::not_initialized &&
                     api.cuDriverGetVersion(&value) == Result::success &&
                     api.cuInit(1) == Result::invalid_value;
  return right ? 0 : 1;
}

TEST(DriverInit, NothingWorksBeforeCuInit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // runs the test in a new process
  EXPECT_EXIT(std::exit(before_cu_init()), testing::ExitedWithCode(0), "");
}

TEST(DriverErrors, HaveNamesAndTexts) {
  const cuda::DriverApi& api = virtual_driver();
  const char* text = nullptr;
  EXPECT_EQ(api.cuGetErrorName(Result::illegal_address, &text), Result::success);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(api.cuGetErrorString(Result::illegal_address, &text), Result::success);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(api.cuGetErrorString(static_cast<Result>(12345), &text), Result::invalid_value);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(api.cuGetErrorName(Result::success, nullptr), Result::invalid_value);
}

TEST(DriverTable, IsComplete) {
#define RUNG_FILLED(member, symbol, ...) EXPECT_NE(virtual_driver().member, nullptr) << symbol;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_FILLED)
#undef RUNG_FILLED
}

class DriverDevice : public DriverTest {
 protected:
  int attribute(DeviceAttribute which) {
    int value = -1;
    EXPECT_OK(api.cuDeviceGetAttribute(&value, which, 0));
    return value;
  }
};

TEST_F(DriverDevice, ThereIsOne) {
  int count = 0;
  EXPECT_OK(api.cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  cuda::Device device = 7;
  EXPECT_OK(api.cuDeviceGet(&device, 0));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(api.cuDeviceGet(&device, 1), Result::invalid_device);
  EXPECT_EQ(virtual_driver_message(), "device 1: there is only 0");
  EXPECT_EQ(api.cuDeviceGet(&device, -1), Result::invalid_device);
  EXPECT_EQ(api.cuDeviceGetCount(nullptr), Result::invalid_value);
}

TEST_F(DriverDevice, NameIsCutToTheRoom) {
  char name[100];
  EXPECT_OK(api.cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "NVIDIA H200 (virtual)");
  EXPECT_OK(api.cuDeviceGetName(name, 5, 0));
  EXPECT_STREQ(name, "NVID");
  EXPECT_EQ(api.cuDeviceGetName(name, 0, 0), Result::invalid_value);
  EXPECT_EQ(api.cuDeviceGetName(name, 5, 1), Result::invalid_device);
}

TEST_F(DriverDevice, PciIdLeadsBackToIt) {
  char id[16];
  EXPECT_EQ(api.cuDeviceGetPCIBusId(id, 12, 0), Result::invalid_value);
  EXPECT_OK(api.cuDeviceGetPCIBusId(id, sizeof id, 0));
  cuda::Device device = 7;
  EXPECT_OK(api.cuDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(api.cuDeviceGetByPCIBusId(&device, "0000:99:00.0"), Result::invalid_value);
  cuda::Uuid uuid{};
  EXPECT_OK(api.cuDeviceGetUuid(&uuid, 0));
  EXPECT_EQ(std::memcmp(uuid.bytes, "rung virtual GPU", 16), 0);
}

TEST_F(DriverDevice, AttributesAreTheDescriptions) {
  EXPECT_EQ(attribute(DeviceAttribute::warp_size), 32);
  EXPECT_EQ(attribute(DeviceAttribute::multiprocessor_count), 132);
  EXPECT_EQ(attribute(DeviceAttribute::compute_capability_major), 9);
  EXPECT_EQ(attribute(DeviceAttribute::max_shared_memory_per_block_optin), 232448);
  EXPECT_EQ(attribute(DeviceAttribute::max_threads_per_multiprocessor), 2048);
  EXPECT_EQ(attribute(DeviceAttribute::global_memory_bus_width), 6016);
  EXPECT_EQ(attribute(DeviceAttribute::max_grid_dim_y), 65535);
  EXPECT_EQ(attribute(DeviceAttribute::single_to_double_precision_perf_ratio), 2);
  std::size_t bytes = 0;
  EXPECT_OK(api.cuDeviceTotalMem(&bytes, 0));
  EXPECT_EQ(bytes, 150109880320u);
  int value = 0;
  EXPECT_EQ(api.cuDeviceGetAttribute(&value, static_cast<DeviceAttribute>(9999), 0),
            Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "the virtual GPU has no device attribute 9999");
}

TEST_F(DriverDevice, CannotChangeWhileThereIsAContext) {
  EXPECT_THROW(set_virtual_device(parse_device("t4")), std::logic_error);
}

TEST(DriverDescription, CanBeSetBetweenContexts) {
  const cuda::DriverApi& api = virtual_driver();
  ASSERT_EQ(api.cuInit(0), Result::success);
  set_virtual_device(parse_device("t4,multiprocessors=3"));
  int value = 0;
  EXPECT_EQ(api.cuDeviceGetAttribute(&value, DeviceAttribute::multiprocessor_count, 0),
            Result::success);
  EXPECT_EQ(value, 3);
  set_virtual_device(parse_device("h200"));
  EXPECT_EQ(virtual_device().key, "h200");
}

class DriverContext : public DriverTest {};

TEST_F(DriverContext, ThreadsBeginWithoutOne) {
  std::jthread([this] {
    cuda::Context current = context;
    EXPECT_OK(api.cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(api.cuCtxSynchronize(), Result::invalid_context);
    EXPECT_EQ(virtual_driver_message(), "no context is current in this thread");
    EXPECT_EQ(api.cuCtxPopCurrent(&current), Result::invalid_context);
    EXPECT_OK(api.cuCtxSetCurrent(context));
    EXPECT_OK(api.cuCtxSynchronize());
  });
}

TEST_F(DriverContext, CreatedOnesAreStacked) {
  cuda::Context mine = nullptr;
  cuda::Context current = nullptr;
  EXPECT_OK(api.cuCtxCreate(&mine, 0, 0));
  EXPECT_OK(api.cuCtxGetCurrent(&current));
  EXPECT_EQ(current, mine);
  EXPECT_OK(api.cuCtxPopCurrent(&current));
  EXPECT_EQ(current, mine);
  EXPECT_OK(api.cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  EXPECT_OK(api.cuCtxPushCurrent(mine));
  EXPECT_OK(api.cuCtxDestroy(mine));
  EXPECT_OK(api.cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  EXPECT_EQ(api.cuCtxPushCurrent(mine), Result::invalid_context);
  EXPECT_EQ(api.cuCtxDestroy(mine), Result::invalid_context);
  EXPECT_EQ(api.cuCtxCreate(&mine, 99, 0), Result::invalid_value);
  EXPECT_EQ(api.cuCtxCreate(&mine, 0, 7), Result::invalid_device);
}

TEST_F(DriverContext, EachHasAMemoryOfItsOwn) {
  const cuda::DevicePointer pointer = allocate(64);
  cuda::Context mine = nullptr;
  EXPECT_OK(api.cuCtxCreate(&mine, 0, 0));
  EXPECT_EQ(api.cuMemFree(pointer), Result::invalid_value);
  EXPECT_OK(api.cuCtxDestroy(mine));
  EXPECT_OK(api.cuMemFree(pointer));
}

TEST_F(DriverContext, ThePrimaryOneIsReleasedAndNotDestroyed) {
  EXPECT_EQ(api.cuCtxDestroy(context), Result::invalid_context);
  cuda::Context again = nullptr;
  EXPECT_OK(api.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_OK(api.cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(api.cuCtxSynchronize());
}

TEST_F(DriverContext, ResetEndsThePrimaryOneUntilItIsRetainedAgain) {
  allocate(64);
  unsigned long long id = 0, same_id = 0, new_id = 0;
  EXPECT_OK(api.cuCtxGetId(context, &id));
  EXPECT_OK(api.cuCtxGetId(context, &same_id));
  EXPECT_EQ(id, same_id);
  EXPECT_OK(api.cuDevicePrimaryCtxReset(0));
  unsigned flags = 0;
  int active = 1;
  EXPECT_OK(api.cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(api.cuCtxSynchronize(), Result::context_is_destroyed);
  cuda::Context again = nullptr;
  EXPECT_OK(api.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_OK(api.cuCtxGetId(again, &new_id));
  EXPECT_NE(new_id, id);
  EXPECT_OK(api.cuCtxSynchronize());
  EXPECT_TRUE(find_leaks().empty());
  EXPECT_OK(api.cuDevicePrimaryCtxRelease(0));
}

TEST_F(DriverContext, FlagsLimitsAndCacheConfig) {
  EXPECT_EQ(api.cuDevicePrimaryCtxSetFlags(0, 3), Result::invalid_value);
  EXPECT_OK(api.cuDevicePrimaryCtxSetFlags(0, 4));
  unsigned flags = 0;
  EXPECT_OK(api.cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, 4u | cuda::context_map_host);
  EXPECT_OK(api.cuDevicePrimaryCtxSetFlags(0, 0));
  std::size_t value = 0;
  EXPECT_OK(api.cuCtxSetLimit(Limit::stack_size, 2048));
  EXPECT_OK(api.cuCtxGetLimit(&value, Limit::stack_size));
  EXPECT_EQ(value, 2048u);
  EXPECT_EQ(api.cuCtxGetLimit(&value, Limit::dev_runtime_sync_depth), Result::unsupported_limit);
  EXPECT_EQ(api.cuCtxGetLimit(&value, static_cast<Limit>(99)), Result::invalid_value);
  EXPECT_EQ(api.cuCtxSetCacheConfig(static_cast<cuda::CacheConfig>(9)), Result::invalid_value);
  cuda::CacheConfig config{};
  EXPECT_OK(api.cuCtxSetCacheConfig(cuda::CacheConfig::prefer_l1));
  EXPECT_OK(api.cuCtxGetCacheConfig(&config));
  EXPECT_EQ(config, cuda::CacheConfig::prefer_l1);
}

}  // namespace
}  // namespace rung::vgpu
