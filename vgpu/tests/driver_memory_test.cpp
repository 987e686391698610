// Allocation, pointers, copies and fills.

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "vgpu/driver/judged_memory.hpp"
#include "vgpu/tests/driver_fixture.hpp"
#include "vgpu/tests/driver_kernels.hpp"

namespace rung::vgpu {
namespace {

using cuda::DevicePointer;
using cuda::MemoryType;
using cuda::PointerAttribute;

DevicePointer address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

class DriverMemory : public DriverTest {
 protected:
  template <class T>
  T attribute(PointerAttribute which, DevicePointer pointer) {
    T value{};
    EXPECT_OK(api.cuPointerGetAttribute(&value, which, pointer));
    return value;
  }
};

TEST_F(DriverMemory, AllocationsAreCharged) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  EXPECT_OK(api.cuMemGetInfo(&before, &total));
  const DevicePointer pointer = allocate(1 << 20);
  EXPECT_OK(api.cuMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, std::size_t{1} << 20);
  EXPECT_OK(api.cuMemFree(pointer));
  EXPECT_OK(api.cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(DriverMemory, ReadOnlyMemoryIsNotWritten) {
  DevicePointer pointer = allocate(64);
  EXPECT_OK(api.cuMemsetD8(pointer, 1, 64));
  ASSERT_TRUE(set_memory_rule(pointer, MemoryRule::read_only));
  EXPECT_EQ(api.cuMemsetD8(pointer + 8, 2, 8), Result::invalid_value);
  EXPECT_EQ(api.cuMemcpyDtoDAsync(pointer, pointer + 32, 8, nullptr), Result::invalid_value);
  EXPECT_NE(virtual_driver_message().find("is read-only"), std::string::npos);
  EXPECT_EQ(read(pointer), 0x01010101u);
  ASSERT_TRUE(set_memory_rule(pointer, MemoryRule::none));
  EXPECT_OK(api.cuMemsetD8(pointer, 2, 64));
  ASSERT_TRUE(set_memory_rule(pointer, MemoryRule::without_value));
  EXPECT_EQ(read(pointer), 0xFFFFFFFFu);
  EXPECT_FALSE(set_memory_rule(8, MemoryRule::read_only));
  ASSERT_TRUE(set_memory_rule(pointer, MemoryRule::read_only));
  unsigned value = 7;
  void* arguments[] = {&pointer, &value};
  const cuda::Function store = function(load(store_kernel), "store");
  EXPECT_OK(api.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(api.cuCtxSynchronize(), Result::illegal_address);
}

TEST_F(DriverMemory, MemoryThatTheHostCouldSee) {
  const DevicePointer pointer = allocate(4096);
  take_host_visible_bytes();
  std::array<char, 100> copied{};
  EXPECT_OK(api.cuMemcpyDtoH(copied.data(), pointer, copied.size()));
  EXPECT_OK(api.cuMemcpyHtoD(pointer, copied.data(), copied.size()));
  EXPECT_EQ(take_host_visible_bytes(), 100);
  DevicePointer managed = 0;
  EXPECT_OK(api.cuMemAllocManaged(&managed, 1000, 1));
  EXPECT_EQ(take_host_visible_bytes(), 2000);
  EXPECT_EQ(take_host_visible_bytes(), 1000);
  EXPECT_OK(api.cuMemFree(managed));
  EXPECT_EQ(take_host_visible_bytes(), 0);
}

TEST_F(DriverMemory, BadAllocationsAndFrees) {
  DevicePointer pointer = 0;
  EXPECT_EQ(api.cuMemAlloc(&pointer, 0), Result::invalid_value);
  EXPECT_EQ(api.cuMemAlloc(nullptr, 4), Result::invalid_value);
  EXPECT_EQ(api.cuMemAlloc(&pointer, std::size_t{1} << 45), Result::out_of_memory);
  EXPECT_EQ(virtual_driver_message(),
            "an allocation of 35184372088832 bytes: 150109880320 of the device's 150109880320 "
            "bytes are free");
  pointer = allocate(64);
  EXPECT_EQ(api.cuMemFree(pointer + 16), Result::invalid_value);
  EXPECT_OK(api.cuMemFree(pointer));
  EXPECT_EQ(api.cuMemFree(pointer), Result::invalid_value);
  EXPECT_NE(virtual_driver_message().find("freed allocation"), std::string::npos);
  EXPECT_OK(api.cuMemFree(0));
}

TEST_F(DriverMemory, AddressRanges) {
  const DevicePointer pointer = allocate(1000);
  DevicePointer base = 0;
  std::size_t bytes = 0;
  EXPECT_OK(api.cuMemGetAddressRange(&base, &bytes, pointer + 999));
  EXPECT_EQ(base, pointer);
  EXPECT_EQ(bytes, 1000u);
  EXPECT_EQ(api.cuMemGetAddressRange(&base, &bytes, pointer + 1000), Result::not_found);
}

TEST_F(DriverMemory, Pitch) {
  DevicePointer pointer = 0;
  std::size_t pitch = 0;
  EXPECT_OK(api.cuMemAllocPitch(&pointer, &pitch, 513, 10, 16));
  EXPECT_EQ(pitch, 1024u);
  EXPECT_EQ(attribute<std::size_t>(PointerAttribute::range_size, pointer), 10240u);
  EXPECT_EQ(api.cuMemAllocPitch(&pointer, &pitch, 100, 10, 5), Result::invalid_value);
  EXPECT_EQ(api.cuMemAllocPitch(&pointer, &pitch, 0, 10, 4), Result::invalid_value);
  EXPECT_EQ(api.cuMemAllocPitch(&pointer, &pitch, ~std::size_t{0}, 2, 4), Result::out_of_memory);
}

TEST_F(DriverMemory, CopiesGoBothWays) {
  std::vector<int> there(100);
  std::iota(there.begin(), there.end(), 0);
  std::vector<int> back(100);
  const DevicePointer a = allocate(400);
  const DevicePointer b = allocate(400);
  EXPECT_OK(api.cuMemcpyHtoD(a, there.data(), 400));
  EXPECT_OK(api.cuMemcpyDtoD(b, a, 400));
  EXPECT_OK(api.cuMemcpyDtoH(back.data(), b, 400));
  EXPECT_EQ(there, back);
  // cuMemcpy accepts any kind of pointer.
  there[0] = 5;
  EXPECT_OK(api.cuMemcpy(a, address(there.data()), 400));
  EXPECT_OK(api.cuMemcpyAsync(b, a, 400, nullptr));
  EXPECT_OK(api.cuMemcpyAsync(address(back.data()), b, 400, cuda::per_thread_stream()));
  EXPECT_EQ(there, back);
}

TEST_F(DriverMemory, CopiesAreChecked) {
  std::array<char, 200> buffer{};
  const DevicePointer pointer = allocate(100);
  EXPECT_EQ(api.cuMemcpyHtoD(pointer, buffer.data(), 101), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(),
            "101 bytes at allocation 1 of 100 bytes are not all in one "
            "allocation");
  EXPECT_EQ(api.cuMemcpyDtoH(buffer.data(), pointer + 50, 51), Result::invalid_value);
  EXPECT_EQ(api.cuMemcpyDtoH(buffer.data(), address(buffer.data()), 4), Result::invalid_value);
  EXPECT_EQ(api.cuMemcpyDtoH(buffer.data(), 12345, 4), Result::invalid_value);
  EXPECT_EQ(api.cuMemcpy(pointer, pointer + 100, 4), Result::invalid_value);
  EXPECT_EQ(api.cuMemcpyHtoD(pointer, nullptr, 4), Result::invalid_value);
  EXPECT_OK(api.cuMemcpyHtoD(0, nullptr, 0));
  EXPECT_OK(api.cuMemFree(pointer));
  EXPECT_EQ(api.cuMemcpyHtoD(pointer, buffer.data(), 8), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(),
            "8 bytes at freed allocation 1 of 100 bytes are not all in "
            "one allocation");
  EXPECT_EQ(api.cuMemcpy(address(buffer.data()), pointer, 8), Result::invalid_value);
}

TEST_F(DriverMemory, RectanglesAreCopied) {
  const DevicePointer device = allocate(4 * 512);
  std::array<std::uint8_t, 12> there;
  std::iota(there.begin(), there.end(), std::uint8_t{0});
  cuda::Memcpy2D copy{};
  copy.source_type = MemoryType::host;
  copy.source_host = there.data();
  copy.source_pitch = 4;
  copy.source_x_bytes = 1;
  copy.destination_type = MemoryType::device;
  copy.destination_device = device;
  copy.destination_pitch = 512;
  copy.destination_y = 1;
  copy.width_bytes = 3;
  copy.height = 3;
  EXPECT_OK(api.cuMemcpy2D(&copy));
  std::array<std::uint8_t, 3> row;
  EXPECT_OK(api.cuMemcpyDtoH(row.data(), device + 3 * 512, 3));
  EXPECT_EQ(row, (std::array<std::uint8_t, 3>{9, 10, 11}));

  copy.height = 5;  // beyond the allocation: nothing is written
  copy.destination_y = 0;
  EXPECT_EQ(api.cuMemcpy2D(&copy), Result::invalid_value);
  copy.height = 1;
  copy.width_bytes = 513;
  EXPECT_EQ(api.cuMemcpy2DUnaligned(&copy), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "rows wider than the pitch");
  copy.width_bytes = 0;
  EXPECT_OK(api.cuMemcpy2DAsync(&copy, nullptr));
  copy.width_bytes = 3;
  copy.destination_type = MemoryType::array;
  EXPECT_EQ(api.cuMemcpy2D(&copy), Result::not_supported);
  EXPECT_EQ(api.cuMemcpy2D(nullptr), Result::invalid_value);
}

TEST_F(DriverMemory, Fills) {
  const DevicePointer pointer = allocate(16);
  EXPECT_OK(api.cuMemsetD32(pointer, 0x01020304, 4));
  EXPECT_EQ(read(pointer + 12), 0x01020304u);
  EXPECT_OK(api.cuMemsetD16(pointer + 2, 0xBEEF, 1));
  EXPECT_EQ(read(pointer), 0xBEEF0304u);
  EXPECT_OK(api.cuMemsetD8Async(pointer, 0, 1, nullptr));
  EXPECT_EQ(read(pointer), 0xBEEF0300u);
  EXPECT_OK(api.cuMemsetD2D8(pointer, 8, 0xFF, 1, 2));
  EXPECT_EQ(read(pointer + 8), 0x010203FFu);
  EXPECT_EQ(api.cuMemsetD32(pointer + 2, 0, 1), Result::invalid_value);
  EXPECT_EQ(api.cuMemsetD32(pointer, 0, 5), Result::invalid_value);
  EXPECT_EQ(api.cuMemsetD2D8(pointer, 8, 0, 9, 2), Result::invalid_value);
  EXPECT_EQ(api.cuMemsetD8(0, 0, 4), Result::invalid_value);
  EXPECT_OK(api.cuMemsetD32(pointer, 0, 0));
}

TEST_F(DriverMemory, PinnedMemoryIsTheHostsAndTheDevices) {
  void* host = nullptr;
  EXPECT_OK(api.cuMemHostAlloc(&host, 100, cuda::host_alloc_portable));
  static_cast<int*>(host)[0] = 41;
  DevicePointer device = 0;
  EXPECT_OK(api.cuMemHostGetDevicePointer(&device, host, 0));
  EXPECT_EQ(read(device), 41u);
  unsigned flags = 0;
  EXPECT_OK(api.cuMemHostGetFlags(&flags, host));
  EXPECT_EQ(flags, cuda::host_alloc_portable | cuda::host_alloc_device_map);
  EXPECT_EQ(attribute<MemoryType>(PointerAttribute::memory_type, device), MemoryType::host);
  EXPECT_EQ(api.cuMemFree(device), Result::invalid_value);
  EXPECT_TRUE(find_leaks().empty());
  EXPECT_OK(api.cuMemFreeHost(host));
  EXPECT_EQ(api.cuMemFreeHost(host), Result::invalid_value);
  EXPECT_OK(api.cuMemFreeHost(nullptr));
  EXPECT_EQ(api.cuMemHostAlloc(&host, 100, 99), Result::invalid_value);
}

TEST_F(DriverMemory, HostMemoryCanBeRegistered) {
  std::vector<int> mine(1000, 3);
  EXPECT_OK(api.cuMemHostRegister(mine.data(), 4000, 0));
  EXPECT_EQ(api.cuMemHostRegister(mine.data() + 10, 40, 0), Result::host_memory_already_registered);
  EXPECT_EQ(api.cuMemHostRegister(nullptr, 40, 0), Result::invalid_value);
  const DevicePointer device = address(mine.data());
  EXPECT_OK(api.cuMemsetD32(device, 7, 1000));
  EXPECT_EQ(mine[999], 7);
  EXPECT_EQ(api.cuMemHostUnregister(mine.data() + 1), Result::invalid_value);
  EXPECT_OK(api.cuMemHostUnregister(mine.data()));
  EXPECT_EQ(api.cuMemHostUnregister(mine.data()), Result::host_memory_not_registered);
}

TEST_F(DriverMemory, ManagedMemory) {
  DevicePointer pointer = 0;
  EXPECT_EQ(api.cuMemAllocManaged(&pointer, 64, 0), Result::invalid_value);
  EXPECT_OK(api.cuMemAllocManaged(&pointer, 64, cuda::attach_global));
  reinterpret_cast<int*>(pointer)[3] = 12;
  EXPECT_EQ(read(pointer + 12), 12u);
  EXPECT_EQ(attribute<int>(PointerAttribute::is_managed, pointer), 1);
  EXPECT_OK(api.cuMemPrefetchAsync(pointer, 64, 0, nullptr));
  EXPECT_OK(api.cuMemPrefetchAsync(pointer, 64, -1, nullptr));
  EXPECT_EQ(api.cuMemPrefetchAsync(pointer, 65, 0, nullptr), Result::invalid_value);
  EXPECT_EQ(api.cuMemPrefetchAsync(pointer, 64, 3, nullptr), Result::invalid_device);
  EXPECT_OK(api.cuMemAdvise(pointer, 64, cuda::MemoryAdvice::set_read_mostly, 0));
  EXPECT_EQ(api.cuMemAdvise(allocate(64), 64, cuda::MemoryAdvice::set_read_mostly, 0),
            Result::invalid_value);
  EXPECT_EQ(api.cuMemFreeAsync(pointer, nullptr), Result::not_supported);
  EXPECT_OK(api.cuMemFree(pointer));
}

TEST_F(DriverMemory, StreamsAllocate) {
  DevicePointer pointer = 0;
  EXPECT_OK(api.cuMemAllocAsync(&pointer, 64, nullptr));
  EXPECT_OK(api.cuMemsetD8Async(pointer, 1, 64, nullptr));
  EXPECT_OK(api.cuMemFreeAsync(pointer, nullptr));
  EXPECT_OK(api.cuMemFreeAsync(0, nullptr));
  EXPECT_EQ(api.cuMemFreeAsync(pointer, nullptr), Result::invalid_value);
}

TEST_F(DriverMemory, StreamsAllocateFromPools) {
  cuda::MemoryPool pool = nullptr;
  const cuda::MemoryPoolProperties none = {.device = 7}, properties = {};
  EXPECT_EQ(api.cuMemPoolCreate(&pool, &none), Result::invalid_device);
  EXPECT_OK(api.cuMemPoolCreate(&pool, &properties));
  std::uint64_t everything = ~std::uint64_t{0};
  EXPECT_OK(
      api.cuMemPoolSetAttribute(pool, cuda::MemoryPoolAttribute::release_threshold, &everything));
  DevicePointer pointer = 0;
  EXPECT_OK(api.cuMemAllocFromPoolAsync(&pointer, 64, pool, nullptr));
  EXPECT_OK(api.cuMemsetD8Async(pointer, 1, 64, nullptr));
  EXPECT_OK(api.cuMemFreeAsync(pointer, nullptr));
  EXPECT_OK(api.cuMemPoolTrimTo(pool, 0));
  EXPECT_EQ(api.cuMemAllocFromPoolAsync(&pointer, 64, nullptr, nullptr), Result::invalid_value);
}

TEST_F(DriverMemory, PointersCanBeAskedAbout) {
  const DevicePointer device = allocate(64) + 4;
  EXPECT_EQ(attribute<cuda::Context>(PointerAttribute::context, device), context);
  EXPECT_EQ(attribute<MemoryType>(PointerAttribute::memory_type, device), MemoryType::device);
  EXPECT_EQ(attribute<DevicePointer>(PointerAttribute::device_pointer, device), device);
  EXPECT_EQ(attribute<DevicePointer>(PointerAttribute::range_start_addr, device), device - 4);
  EXPECT_EQ(attribute<int>(PointerAttribute::device_ordinal, device), 0);
  EXPECT_EQ(attribute<int>(PointerAttribute::is_managed, device), 0);
  void* host = nullptr;
  EXPECT_EQ(api.cuPointerGetAttribute(&host, PointerAttribute::host_pointer, device),
            Result::invalid_value);
  EXPECT_EQ(api.cuPointerGetAttribute(&host, PointerAttribute::host_pointer, address(&host)),
            Result::invalid_value);
}

TEST_F(DriverMemory, LeaksAreFound) {
  const DevicePointer a = allocate(64);
  allocate(100);
  EXPECT_OK(api.cuMemFree(a));
  const std::vector<Hazard> leaks = find_leaks();
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].kind, HazardKind::leak);
  EXPECT_EQ(leaks[0].message, "leak: allocation 2 of 100 bytes was never freed");
}

}  // namespace
}  // namespace rung::vgpu
