#include "vgpu/memory/device_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "vgpu/memory/device_addresses.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t gigabyte = std::size_t{1} << 30;

bool initialised(const DeviceMemory& memory, std::uint64_t address) {
  const Allocation* allocation = memory.find(address);
  return allocation->all_initialised || allocation->initialised[address - allocation->address] != 0;
}

TEST(DeviceMemory, AllocationsAreAlignedZeroAndApart) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t a = memory.allocate(100);
  const std::uint64_t b = memory.allocate(100);
  EXPECT_EQ(a % 512, 0u);
  EXPECT_EQ(b % 512, 0u);
  EXPECT_GE(a > b ? a - b : b - a, 65536u);
  std::array<std::uint8_t, 100> bytes;
  bytes.fill(1);
  ASSERT_TRUE(memory.read(bytes.data(), a, bytes.size()));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 100);
}

TEST(DeviceMemory, TheHostCannotAccessAddressesOfTheDevice) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t device = memory.allocate(100), host = memory.allocate(100, {}, true);
  EXPECT_TRUE(is_device_address(device));
  EXPECT_FALSE(is_device_address(host));
  EXPECT_FALSE(is_device_address(reinterpret_cast<std::uint64_t>(&memory)));
  const auto access = [](std::uint64_t address) {
    return *reinterpret_cast<const volatile char*>(address);
  };
  EXPECT_EQ(access(host), 0);
  EXPECT_DEATH(access(device), "");
  memory.free(device);
  EXPECT_DEATH(access(device), "");
}

std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

TEST(DeviceMemory, ManySmallAllocationsTakeFewMappings) {  // Linux limits a process to about 65,000
  DeviceMemory memory(gigabyte);
  const std::size_t before = mappings();
  for (int i = 0; i < 10000; ++i) memory.allocate(16);
  EXPECT_LT(mappings(), before + 100);
}

TEST(DeviceMemory, FindsByAnyAddressInside) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(100);
  EXPECT_EQ(memory.find(address)->bytes, 100u);
  EXPECT_EQ(memory.find(address + 99)->address, address);
  EXPECT_EQ(memory.find(address + 100), nullptr);
  EXPECT_EQ(memory.find(address - 1), nullptr);
  EXPECT_EQ(memory.find(0), nullptr);
  EXPECT_EQ(memory.find(~std::uint64_t{0}), nullptr);
}

TEST(DeviceMemory, CapacityIsChargedInUnitsAndComesBack) {
  DeviceMemory memory(2048);
  const std::uint64_t a = memory.allocate(1);
  EXPECT_EQ(memory.used(), 512u);
  const std::uint64_t b = memory.allocate(1536);
  EXPECT_THROW(memory.allocate(1), std::bad_alloc);
  EXPECT_TRUE(memory.free(a));
  EXPECT_EQ(memory.used(), 1536u);
  EXPECT_FALSE(memory.free(a));
  EXPECT_FALSE(memory.free(b + 1));
  EXPECT_NE(memory.allocate(512), 0u);
  // Host memory does not use the device's capacity.
  EXPECT_NE(memory.allocate(4096, {}, true), 0u);
  EXPECT_THROW(memory.allocate(~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW(memory.allocate(~std::size_t{0}, {}, true), std::bad_alloc);
}

TEST(DeviceMemory, BigAllocationsCostWhatIsTouched) {
  DeviceMemory memory(10 * gigabyte);
  const std::uint64_t address = memory.allocate(8 * gigabyte);
  const int value = 7;
  ASSERT_TRUE(memory.write(address + 8 * gigabyte - sizeof value, &value, sizeof value));
  int back = 0;
  ASSERT_TRUE(memory.read(&back, address + 8 * gigabyte - sizeof value, sizeof back));
  EXPECT_EQ(back, 7);
  memory.number_blocks(std::uint64_t{1} << 32);
}

TEST(DeviceMemory, EveryTransferIsCheckedAgainstBounds) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t a = memory.allocate(16);
  const std::uint64_t b = memory.allocate(16);
  std::array<char, 32> buffer{};
  EXPECT_TRUE(memory.write(a, buffer.data(), 16));
  EXPECT_FALSE(memory.write(a, buffer.data(), 17));
  EXPECT_FALSE(memory.write(a + 8, buffer.data(), 9));
  EXPECT_FALSE(memory.write(a - 1, buffer.data(), 1));
  EXPECT_FALSE(memory.read(buffer.data(), a + 16, 1));
  EXPECT_FALSE(memory.read(buffer.data(), a + 1, ~std::size_t{0}));
  EXPECT_TRUE(memory.copy(b, a, 16));
  EXPECT_FALSE(memory.copy(b, a, 17));
  EXPECT_FALSE(memory.copy(b + 8, a, 16));
  EXPECT_TRUE(memory.fill(a, 1, 4, 4));
  EXPECT_FALSE(memory.fill(a, 1, 4, 5));
  EXPECT_FALSE(memory.fill(a, 1, 4, ~std::size_t{0} / 2));
}

TEST(DeviceMemory, FillsWithPatterns) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(8);
  std::array<std::uint8_t, 8> bytes;
  ASSERT_TRUE(memory.fill(address, 0x1234, 2, 4));
  ASSERT_TRUE(memory.read(bytes.data(), address, 8));
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 8>{0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12}));
  ASSERT_TRUE(memory.fill(address + 1, 0xAB, 1, 2));
  ASSERT_TRUE(memory.read(bytes.data(), address, 8));
  EXPECT_EQ(bytes[0], 0x34);
  EXPECT_EQ(bytes[1], 0xAB);
  EXPECT_EQ(bytes[2], 0xAB);
}

TEST(DeviceMemory, KnowsWhatHasBeenWritten) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(16);
  const std::array<char, 16> buffer{};
  EXPECT_FALSE(initialised(memory, address));
  memory.write(address + 4, buffer.data(), 4);
  EXPECT_FALSE(initialised(memory, address + 3));
  EXPECT_TRUE(initialised(memory, address + 4));
  EXPECT_TRUE(initialised(memory, address + 7));
  EXPECT_FALSE(initialised(memory, address + 8));
  memory.fill(address + 8, 0, 4, 1);
  EXPECT_TRUE(initialised(memory, address + 11));
  EXPECT_FALSE(initialised(memory, address + 12));
  memory.write(address, buffer.data(), 16);
  EXPECT_TRUE(memory.find(address)->all_initialised);
}

TEST(DeviceMemory, CopiesCarryWhatIsUninitialised) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t from = memory.allocate(16);
  const std::uint64_t to = memory.allocate(16);
  memory.fill(to, 0, 1, 16);
  memory.fill(from + 8, 0, 1, 4);
  ASSERT_TRUE(memory.copy(to + 4, from + 4, 8));
  EXPECT_TRUE(initialised(memory, to));
  EXPECT_FALSE(initialised(memory, to + 4));
  EXPECT_FALSE(initialised(memory, to + 7));
  EXPECT_TRUE(initialised(memory, to + 8));
  EXPECT_TRUE(initialised(memory, to + 15));
  // Host memory is always initialised, and so are copies of it.
  const std::uint64_t host = memory.allocate(16, {}, true);
  ASSERT_TRUE(memory.copy(to, host, 16));
  EXPECT_TRUE(memory.find(to)->all_initialised);
}

TEST(DeviceMemory, LinesThatWereFoundWrittenAreForgottenByACopy) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t to = memory.allocate(1000), unwritten = memory.allocate(1000);
  const std::array<std::uint8_t, 970> bytes{};
  ASSERT_TRUE(memory.write(to, bytes.data(), bytes.size()));
  const Allocation& allocation = *memory.find(to);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(find_unwritten(allocation, to, 1000), bytes.size());
    EXPECT_EQ(find_unwritten(allocation, to + 70, 600), 600u);
    EXPECT_TRUE(is_line_written(allocation, to + 959));
    EXPECT_FALSE(is_line_written(allocation, to + 960));
  }
  ASSERT_TRUE(memory.copy(to + 130, unwritten, 8));
  EXPECT_EQ(find_unwritten(allocation, to, 1000), 130u);
  EXPECT_FALSE(is_line_written(allocation, to + 191));
}

TEST(DeviceMemory, AnUnobservedLaunchMayHaveWrittenAnything) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(16);
  memory.assume_initialised();
  EXPECT_TRUE(initialised(memory, address));
}

TEST(DeviceMemory, BlocksAreNumberedOverLaunches) {
  DeviceMemory memory(gigabyte);
  EXPECT_EQ(memory.number_blocks(10), 1u);
  EXPECT_EQ(memory.number_blocks(1000), 11u);
  EXPECT_EQ(memory.number_blocks(1), 1011u);
}

TEST(DeviceMemory, StampsAreForgottenWhenTheNumbersRunOut) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(1000);
  std::uint64_t* stamps = memory.find(address)->stamps;
  for (std::size_t i = 0; i < 4 * 1000; ++i) {
    ASSERT_EQ(stamps[i], 0u);
    stamps[i] = i + 1;
  }
  constexpr std::uint64_t all = (std::uint64_t{1} << 32) - 1;
  memory.number_blocks(all - 5);
  EXPECT_EQ(stamps[3999], 4000u);
  EXPECT_EQ(memory.number_blocks(6), 1u);
  EXPECT_TRUE(std::all_of(stamps, stamps + 4000, [](std::uint64_t stamp) { return stamp == 0; }));
}

TEST(DeviceMemory, DescribesAddresses) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t a = memory.allocate(4096);
  const std::uint64_t b = memory.allocate(64, "weights");
  EXPECT_EQ(memory.describe(a), "allocation 1 of 4096 bytes");
  EXPECT_EQ(memory.describe(a + 4), "allocation 1 of 4096 bytes + 4");
  EXPECT_EQ(memory.describe(a + 4096), "allocation 1 of 4096 bytes + 4096");
  EXPECT_EQ(memory.describe(a - 4), "allocation 1 of 4096 bytes - 4");
  EXPECT_EQ(memory.describe(b + 68), "weights + 68");
  memory.free(a);
  EXPECT_EQ(memory.describe(a + 8), "freed allocation 1 of 4096 bytes + 8");
  EXPECT_EQ(memory.describe(0), "null pointer");
  EXPECT_EQ(memory.describe(16), "address 0x10, in no allocation");
  const std::uint64_t host = memory.allocate(8, {}, true);
  EXPECT_EQ(memory.describe(host), "host allocation 2 of 8 bytes");
}

TEST(DeviceMemory, FreedAddressesAreNotGivenOutAgainSoon) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t address = memory.allocate(4096);
  memory.free(address);
  EXPECT_TRUE(memory.reserves(address));
  for (int i = 0; i < 100; ++i) EXPECT_NE(memory.allocate(4096), address);
  for (int i = 0; i < 1000; ++i) memory.free(memory.allocate(4096));
  const int local = 0;
  EXPECT_FALSE(memory.reserves(reinterpret_cast<std::uint64_t>(&local)));
}

TEST(DeviceMemory, AdoptsMemoryOfTheCaller) {
  DeviceMemory memory(gigabyte);
  std::vector<int> mine(100, 5);
  const auto address = reinterpret_cast<std::uint64_t>(mine.data());
  memory.adopt(mine.data(), mine.size() * sizeof(int));
  ASSERT_NE(memory.find(address + 399), nullptr);
  EXPECT_TRUE(memory.find(address)->host);
  EXPECT_NE(memory.find(address)->stamps, nullptr);
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_FALSE(memory.free(address));
  EXPECT_TRUE(memory.fill(address, 9, 4, 100));
  EXPECT_EQ(mine[99], 9);
  memory.release_adopted(mine.data());
  EXPECT_EQ(memory.find(address), nullptr);
}

TEST(DeviceMemory, LiveOnesAreTheProgramsOldestFirst) {
  DeviceMemory memory(gigabyte);
  const std::uint64_t a = memory.allocate(1);
  memory.allocate(2, "variable");
  const std::uint64_t c = memory.allocate(3);
  memory.allocate(4);
  memory.free(c);
  const std::vector<Allocation> live = memory.live();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].address, a);
  EXPECT_EQ(live[1].bytes, 4u);
  memory.clear();
  EXPECT_TRUE(memory.live().empty());
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(memory.find(a), nullptr);
}

TEST(DeviceMemory, ThreadsMayAllocateAtOnce) {
  DeviceMemory memory(gigabyte);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t i = 1; i <= 200; ++i) {
          const std::uint64_t address = memory.allocate(i);
          ASSERT_TRUE(memory.write(address, &i, 1));
          ASSERT_EQ(memory.find(address)->bytes, i);
          ASSERT_TRUE(memory.free(address));
        }
      });
    }
  }
  EXPECT_EQ(memory.used(), 0u);
}

}  // namespace
}  // namespace rung::vgpu
