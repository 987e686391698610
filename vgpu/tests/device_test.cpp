#include "vgpu/model/device.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "vgpu/model/hazard.hpp"

namespace rung::vgpu {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_device(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Device, KnownOnesHaveTheirOwnNumbers) {
  EXPECT_EQ(parse_device("h200").multiprocessors, 132);
  EXPECT_EQ(parse_device("a100").multiprocessors, 108);
  EXPECT_EQ(parse_device("t4").multiprocessors, 40);
  EXPECT_EQ(parse_device("t4").compute_minor, 5);
  EXPECT_EQ(parse_device("a100").shared_per_block_optin, 163 * 1024);
  // TFLOP/s that Apple states, and for M3 and M4 Max those that follow from its figures.
  for (const auto& [key, tflops] :
       {std::pair{"m1", 2.62}, {"m1pro", 5.31}, {"m2max", 13.6}, {"m3", 3.53}, {"m4max", 16.2}}) {
    const DeviceDescription gpu = parse_device(key);
    EXPECT_NEAR(2e-9 * gpu.fp32_lanes_per_multiprocessor * gpu.clock_khz * gpu.multiprocessors,
                tflops, 0.05)
        << key;
  }
  for (const DeviceDescription& device : known_devices()) {
    EXPECT_EQ(parse_device(device.key).name, device.name);
    // Memory transfers two bits per clock and wire. Data sheets round.
    const double peak = 2.0 * 1e3 * device.memory_clock_khz * device.memory_bus_bits / 8;
    EXPECT_NEAR(device.memory_bandwidth / peak, 1.0, 0.03) << device.name;
  }
}

TEST(Device, NumbersCanBeOverridden) {
  const DeviceDescription device =
      parse_device("a100,multiprocessors=4,l2_bytes=1048576,memory_bandwidth=1.5e12");
  EXPECT_EQ(device.multiprocessors, 4);
  EXPECT_EQ(device.l2_bytes, 1048576);
  EXPECT_EQ(device.memory_bandwidth, 1.5e12);
  EXPECT_EQ(device.key, "custom");
  EXPECT_EQ(device.name, "NVIDIA A100-SXM4-80GB, customised");
  EXPECT_EQ(device.compute_major, 8);
}

TEST(Device, CustomStartsFromTheH200) {
  const DeviceDescription device = parse_device("custom,clock_khz=1000000");
  EXPECT_EQ(device.multiprocessors, 132);
  EXPECT_EQ(device.clock_khz, 1000000);
  EXPECT_EQ(device.key, "custom");
}

TEST(Device, ErrorsNameWhatIsWrongAndWhatIsAllowed) {
  EXPECT_EQ(
      error_of("b100"),
      "'b100' is not one of h200, h100, a100, t4, rtx3090, rtx4090, b200, rtx5090, m1, m1pro, "
      "m2max, m3, m4max, custom, each with "
      "overrides such as "
      "'h200,multiprocessors=4'");
  EXPECT_EQ(error_of("h200,multiprocessors=0"),
            "device field multiprocessors: '0' is not a number from 1 to 1024");
  EXPECT_EQ(error_of("h200,multiprocessors=1.5"),
            "device field multiprocessors: '1.5' is not a number from 1 to 1024");
  EXPECT_EQ(error_of("h200,multiprocessors=nan"),
            "device field multiprocessors: 'nan' is not a number from 1 to 1024");
  EXPECT_EQ(error_of("h200,multiprocessors=4x"),
            "device field multiprocessors: '4x' is not a number from 1 to 1024");
  EXPECT_EQ(error_of("h200,sms=4")
                .rfind("device override 'sms=4': expected FIELD=NUMBER, FIELD "
                       "one of compute_major, ",
                       0),
            0u);
  EXPECT_EQ(error_of("h200,").rfind("device override ''", 0), 0u);
  EXPECT_EQ(error_of("").rfind("'' is not one of h200", 0), 0u);
}

TEST(Device, LimitsMayNotContradictOneAnother) {
  EXPECT_EQ(error_of("t4,shared_per_block=98304"),
            "device t4: shared_per_block 98304 is above shared_per_block_optin 65536");
  EXPECT_EQ(error_of("h200,max_warps_per_multiprocessor=16"),
            "device h200: max_threads_per_block 1024 is above 32 * max_warps_per_multiprocessor "
            "512");
}

TEST(Hazard, EveryKindHasANameOfItsOwn) {
  std::string names;
  for (int kind = 0; kind <= static_cast<int>(HazardKind::leak); ++kind) {
    const std::string one = name(static_cast<HazardKind>(kind));
    EXPECT_NE(one, "unknown");
    EXPECT_EQ(names.find(one), std::string::npos) << one;
    names += one + "\n";
  }
}

TEST(Hazard, FaultsEndALaunchAndRacesDoNot) {
  EXPECT_TRUE(is_fault(HazardKind::out_of_bounds));
  EXPECT_TRUE(is_fault(HazardKind::instruction_limit));
  EXPECT_FALSE(is_fault(HazardKind::shared_race));
  EXPECT_FALSE(is_fault(HazardKind::leak));
}

}  // namespace
}  // namespace rung::vgpu
