// Launches, faults, kernels' output and occupancy.

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "vgpu/tests/driver_fixture.hpp"
#include "vgpu/tests/driver_kernels.hpp"

namespace rung::vgpu {
namespace {

using cuda::DevicePointer;
using cuda::Function;
using cuda::FunctionAttribute;
using cuda::LaunchAttributeId;
using cuda::Module;

class DriverLaunch : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    module = load(kernels);
    empty = function(module, "empty");
    store = function(module, "store");
  }
  Result launch_of(Function kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                   unsigned block_z, unsigned dynamic = 0) {
    return api.cuLaunchKernel(kernel, grid_x, grid_y, 1, block_x, 1, block_z, dynamic, nullptr,
                              nullptr, nullptr);
  }
  Module module = nullptr;
  Function empty = nullptr;
  Function store = nullptr;
};

TEST_F(DriverLaunch, ArgumentsArePointersOrABuffer) {
  DevicePointer pointer = allocate(64);
  unsigned value = 42;
  EXPECT_OK(launch(store, {&pointer, &value}));
  EXPECT_EQ(read(pointer), 42u);
  struct {
    DevicePointer pointer;
    unsigned value;
  } buffer{pointer, 43};
  std::size_t bytes = 12;
  void* extra[] = {reinterpret_cast<void*>(cuda::launch_param_buffer_pointer), &buffer,
                   reinterpret_cast<void*>(cuda::launch_param_buffer_size), &bytes,
                   reinterpret_cast<void*>(cuda::launch_param_end)};
  const auto launch_buffer = [&](void** arguments) {
    return api.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, extra);
  };
  EXPECT_OK(launch_buffer(nullptr));
  EXPECT_EQ(read(pointer), 43u);
  bytes = 8;
  EXPECT_EQ(launch_buffer(nullptr), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "store: 8 bytes of parameters: it takes 12");
  bytes = 16;
  EXPECT_EQ(launch_buffer(nullptr), Result::launch_out_of_resources);
  void* arguments[] = {&pointer, &value};
  EXPECT_EQ(launch_buffer(arguments), Result::invalid_value);
  EXPECT_EQ(api.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "store takes 2 arguments, and none are given");
  arguments[1] = nullptr;
  EXPECT_EQ(launch(store, {&pointer, nullptr}), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(), "store: argument 1 is null");
}

TEST_F(DriverLaunch, SizesAreChecked) {
  EXPECT_OK(launch_of(empty, 1, 1, 1, 1));
  EXPECT_EQ(launch_of(empty, 0, 1, 1, 1), Result::invalid_value);
  EXPECT_EQ(launch_of(empty, 1, 1, 0, 1), Result::invalid_value);
  EXPECT_EQ(launch_of(empty, 1, 65536, 1, 1), Result::invalid_value);
  EXPECT_EQ(launch_of(empty, 1, 1, 1025, 1), Result::invalid_value);
  EXPECT_NE(virtual_driver_message().find("1025"), std::string::npos);
  EXPECT_EQ(launch_of(empty, 1, 1, 1, 65), Result::invalid_value);
  EXPECT_EQ(launch_of(function(module, "bounded"), 1, 1, 129, 1), Result::invalid_value);
  EXPECT_EQ(launch(nullptr), Result::invalid_handle);
}

TEST_F(DriverLaunch, DynamicSharedMemoryHasToBeAllowed) {
  EXPECT_OK(launch_of(empty, 1, 1, 32, 1, 49152));
  EXPECT_EQ(launch_of(empty, 1, 1, 32, 1, 49153), Result::invalid_value);
  EXPECT_EQ(virtual_driver_message(),
            "empty: 49153 bytes of dynamic shared memory: at most 49152, unless "
            "cudaFuncSetAttribute or cuFuncSetAttribute allows more");
  EXPECT_OK(
      api.cuFuncSetAttribute(empty, FunctionAttribute::max_dynamic_shared_size_bytes, 100000));
  EXPECT_OK(launch_of(empty, 1, 1, 32, 1, 100000));
  EXPECT_EQ(launch_of(function(module, "shared"), 1, 1, 32, 1, 32769), Result::invalid_value);
}

TEST_F(DriverLaunch, CooperativeGridsHaveToFit) {
  const auto cooperative = [&](unsigned blocks) {
    return api.cuLaunchCooperativeKernel(empty, blocks, 1, 1, 1024, 1, 1, 0, nullptr, nullptr);
  };
  EXPECT_OK(cooperative(2 * 132));
  EXPECT_EQ(cooperative(2 * 132 + 1), Result::cooperative_launch_too_large);
  EXPECT_EQ(virtual_driver_message(),
            "empty: a cooperative launch of 265 blocks: at most 264 run at once");
}

TEST_F(DriverLaunch, LaunchAttributes) {
  cuda::LaunchAttribute attribute{};
  cuda::LaunchConfig config{};
  config.grid_x = config.grid_y = config.grid_z = 1;
  config.block_x = config.block_y = config.block_z = 1;
  EXPECT_OK(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  config.attribute_count = 1;
  EXPECT_EQ(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr), Result::invalid_value);
  config.attributes = &attribute;
  attribute.id = LaunchAttributeId::cluster_dimension;
  attribute.value.cluster_dimension = {1, 1, 1};
  EXPECT_OK(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  attribute.value.cluster_dimension = {2, 1, 1};
  EXPECT_EQ(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr), Result::invalid_cluster_size);
  attribute.id = LaunchAttributeId::device_updatable_kernel_node;
  EXPECT_EQ(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr), Result::not_supported);
  attribute.id = LaunchAttributeId::programmatic_event;
  cuda::Event timed = nullptr, untimed = nullptr;
  EXPECT_OK(api.cuEventCreate(&timed, 0));
  EXPECT_OK(api.cuEventCreate(&untimed, cuda::event_disable_timing));
  attribute.value = {};
  std::memcpy(attribute.value.bytes, &timed, sizeof timed);
  EXPECT_EQ(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr), Result::invalid_value);
  std::memcpy(attribute.value.bytes, &untimed, sizeof untimed);
  EXPECT_OK(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  EXPECT_OK(api.cuEventSynchronize(untimed));
  attribute.id = LaunchAttributeId::cooperative;
  attribute.value.cooperative = 1;
  config.grid_x = 100000;
  EXPECT_EQ(api.cuLaunchKernelEx(&config, empty, nullptr, nullptr),
            Result::cooperative_launch_too_large);
}

TEST_F(DriverLaunch, ProgrammaticSerialisation) {
  const cuda::Module early = load(R"(
    .entry k(.param .u64 to)
    {
      .reg .b64 %rd<2>;
      ld.param.u64 %rd1, [to];
      st.global.u32 [%rd1], 1;
      griddepcontrol.wait;
      ret;
    })",
                                  "sm_90");
  std::vector<std::string> hazards;
  set_launch_observer([&](const LaunchReport& report, const Kernel&) {
    for (const Hazard& hazard : report.hazards) hazards.push_back(name(hazard.kind));
  });
  cuda::LaunchAttribute attribute{};
  attribute.id = LaunchAttributeId::programmatic_stream_serialization;
  cuda::LaunchConfig config{};
  config.grid_x = config.grid_y = config.grid_z = 1;
  config.block_x = config.block_y = config.block_z = 1;
  config.attributes = &attribute;
  config.attribute_count = 1;
  DevicePointer pointer = allocate(4);
  void* arguments[] = {&pointer};
  EXPECT_OK(api.cuLaunchKernelEx(&config, function(early, "k"), arguments, nullptr));
  EXPECT_EQ(hazards, (std::vector<std::string>{}));
  attribute.value.programmatic_stream_serialization = 1;
  EXPECT_OK(api.cuLaunchKernelEx(&config, function(early, "k"), arguments, nullptr));
  EXPECT_EQ(hazards, (std::vector<std::string>{"early access"}));
}

TEST_F(DriverLaunch, ObserversSeeEveryLaunch) {
  std::vector<std::string> seen;
  set_launch_observer([&](const LaunchReport& report, const Kernel& kernel) {
    seen.push_back(report.kernel + (report.observed ? "" : " unobserved"));
    EXPECT_EQ(info(kernel).name, report.kernel);
    EXPECT_OK(api.cuCtxSynchronize());  // the observer may call the driver
  });
  EXPECT_OK(launch(empty));
  LaunchDefaults defaults;
  defaults.observe = false;
  set_launch_defaults(defaults);
  DevicePointer pointer = allocate(64);
  unsigned value = 1;
  EXPECT_OK(launch(store, {&pointer, &value}));
  set_launch_observer({});
  EXPECT_OK(launch(empty));
  EXPECT_EQ(seen, (std::vector<std::string>{"empty", "store unobserved"}));
}

TEST_F(DriverLaunch, UninitialisedReadsAreReported) {
  std::size_t hazards = 0;
  set_launch_observer(
      [&](const LaunchReport& report, const Kernel&) { hazards = report.hazards.size(); });
  const Function peek = function(module, "peek");
  DevicePointer pointer = allocate(64);
  EXPECT_OK(launch(peek, {&pointer}));
  EXPECT_EQ(hazards, 1u);
  EXPECT_OK(api.cuMemsetD32(pointer, 0, 1));
  EXPECT_OK(launch(peek, {&pointer}));
  EXPECT_EQ(hazards, 0u);
}

TEST_F(DriverLaunch, FaultsStickUntilTheContextGoes) {
  DevicePointer pointer = allocate(64);
  DevicePointer wrong = pointer + 64;
  unsigned value = 1;
  EXPECT_OK(launch(store, {&wrong, &value}));  // as on a GPU, the next call returns the error
  EXPECT_EQ(api.cuCtxSynchronize(), Result::illegal_address);
  EXPECT_NE(virtual_driver_message().find("allocation 1 of 64 bytes + 64"), std::string::npos)
      << virtual_driver_message();
  EXPECT_EQ(api.cuMemAlloc(&pointer, 4), Result::illegal_address);
  EXPECT_EQ(api.cuMemcpyDtoH(&value, pointer, 4), Result::illegal_address);
  EXPECT_EQ(launch(empty), Result::illegal_address);
  cuda::Context current = nullptr;
  EXPECT_OK(api.cuCtxGetCurrent(&current));
  EXPECT_OK(api.cuDevicePrimaryCtxReset(0));
  EXPECT_OK(api.cuDevicePrimaryCtxRetain(&current, 0));
  allocate(4);
  EXPECT_OK(api.cuDevicePrimaryCtxRelease(0));
}

class DriverFault : public DriverLaunch {};

TEST_F(DriverFault, Misaligned) {
  DevicePointer wrong = allocate(64) + 2;
  unsigned value = 1;
  EXPECT_OK(launch(store, {&wrong, &value}));
  EXPECT_EQ(api.cuStreamSynchronize(nullptr), Result::misaligned_address);
}

TEST_F(DriverFault, Trap) {
  EXPECT_OK(launch(function(module, "trapper")));
  EXPECT_EQ(api.cuCtxSynchronize(), Result::launch_failed);
}

TEST_F(DriverFault, Assertion) {
  EXPECT_OK(launch(function(load(talker), "insist")));
  EXPECT_EQ(api.cuCtxSynchronize(), Result::assert_triggered);
}

TEST_F(DriverFault, TooManyInstructions) {
  LaunchDefaults defaults;
  defaults.instruction_limit = 100000;
  set_launch_defaults(defaults);
  EXPECT_OK(launch(function(module, "forever")));
  EXPECT_EQ(api.cuCtxSynchronize(), Result::launch_timeout);
}

TEST_F(DriverLaunch, OutputIsShownAtSynchronisation) {
  const Function say = function(load(talker), "say");
  EXPECT_OK(launch(say));
  EXPECT_EQ(printed, "");
  EXPECT_OK(api.cuCtxSynchronize());
  EXPECT_EQ(printed, "hello\n");
  EXPECT_OK(launch(say));
  EXPECT_OK(launch(empty));  // prints the output of the previous launch
  EXPECT_EQ(printed, "hello\nhello\n");
}

TEST_F(DriverLaunch, Occupancy) {
  int blocks = 0;
  EXPECT_OK(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, 0));
  EXPECT_EQ(blocks, 16);
  EXPECT_OK(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 128, 32000));
  EXPECT_EQ(blocks, 7);
  const Function shared = function(module, "shared");
  EXPECT_OK(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 32, 1000));
  EXPECT_EQ(blocks, 12);
  EXPECT_OK(api.cuFuncSetAttribute(shared, FunctionAttribute::preferred_shared_memory_carveout, 0));
  EXPECT_OK(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 32, 0));
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 0, 0),
            Result::invalid_value);
  EXPECT_EQ(api.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, empty, 32, 0, 9),
            Result::invalid_value);
  int grid = 0;
  int block = 0;
  EXPECT_OK(api.cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 264);
  const auto shared_of = [](int threads) { return static_cast<std::size_t>(threads) * 64; };
  EXPECT_OK(api.cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, shared_of, 0, 0));
  EXPECT_EQ(block, 512);
  EXPECT_EQ(api.cuOccupancyMaxPotentialBlockSize(&grid, &block, empty, nullptr, 0, -1),
            Result::invalid_value);
}

// A kernel that keeps 150 numbers in registers, unless launch bounds ask for more blocks.
TEST_F(DriverLaunch, LaunchBoundsLimitRegisters) {
  const auto blocks_with = [&](const std::string& bounds) {
    std::string text = ".visible .entry wide(.param .u64 p) " + bounds +
                       " {\n.reg .u64 %rd<2>;\n.reg .f32 %f<150>;\nld.param.u64 %rd1, [p];\n";
    for (int i = 0; i < 150; ++i) {
      text += fmt::format("ld.global.f32 %f{}, [%rd1+{}];\n", i, 4 * i);
    }
    for (int i = 0; i < 150; ++i) {
      text += fmt::format("st.global.f32 [%rd1+{}], %f{};\n", 4 * i, 149 - i);
    }
    int blocks = 0;
    EXPECT_OK(api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function(load(text + "ret;\n}\n"), "wide"), 256, 0));
    return blocks;
  };
  EXPECT_EQ(blocks_with(".maxntid 256, 1, 1"), 1);
  EXPECT_EQ(blocks_with(".maxntid 256, 1, 1 .minnctapersm 4"), 4);
}

TEST_F(DriverLaunch, ThreadsMayLaunchAtOnce) {
  constexpr unsigned count = 4;
  const DevicePointer pointer = allocate(4 * count);
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        EXPECT_OK(api.cuCtxSetCurrent(context));
        DevicePointer mine = pointer + 4 * t;
        unsigned value = t + 1;
        for (int i = 0; i < 20; ++i) {
          EXPECT_OK(launch(store, {&mine, &value}, cuda::per_thread_stream()));
        }
      });
    }
  }
  for (unsigned t = 0; t < count; ++t) EXPECT_EQ(read(pointer + 4 * t), t + 1);
}

// The kernel counts its launches before it reads shared memory that nothing has written, so its block cannot start
// again: the launch does, with memory as it was.
TEST_F(DriverLaunch, UnwrittenSharedMemoryIsDecidedByASecondRun) {
  const auto text = [](const std::string& use) {
    return R"(
.visible .entry k(.param .u64 p) {
  .reg .u64 %rd<2>; .reg .u32 %r<4>; .shared .align 4 .u32 word;
  ld.param.u64 %rd1, [p]; atom.global.add.u32 %r1, [%rd1], 1; ld.shared.u32 %r2, [word]; )" +
           use + " st.global.u32 [%rd1 + 4], %r2; ret; }";
  };
  const DevicePointer pointer = allocate(8);
  std::size_t hazards = 0;
  set_launch_observer(
      [&](const LaunchReport& report, const Kernel&) { hazards += report.hazards.size(); });
  const auto run = [&](const std::string& use) {
    EXPECT_OK(api.cuMemsetD32(pointer, 0, 2));
    DevicePointer argument = pointer;
    EXPECT_OK(launch(function(load(text(use)), "k"), {&argument}));
    EXPECT_EQ(read(pointer), 1u);
    return std::exchange(hazards, 0);
  };
  EXPECT_EQ(run("and.b32 %r2, %r2, 0;"), 0u);
  EXPECT_EQ(run("and.b32 %r2, %r2, 1;"), 1u);
}

}  // namespace
}  // namespace rung::vgpu
