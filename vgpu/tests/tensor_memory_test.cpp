// Hazards of tensor memory: mutants of a kernel that breaks no rule of the PTX ISA (9.7.16).

#include <string>

#include "vgpu/tests/tensor_fixture.hpp"

namespace rung::vgpu::tensor_tests {
namespace {

TEST_F(TensorMemoryTest, ReportsAccumulatorsThatAreReadTooEarly) {
  Steps steps;
  steps.waits = false;
  expect_hazard(HazardKind::in_flight, steps);
  steps = {};
  steps.parity = "1";  // of the phase before, which is complete
  expect_hazard(HazardKind::in_flight, steps);
  steps = {};
  steps.commit = "";
  expect_hazard(HazardKind::deadlock, steps);
  steps = {};
  steps.load_wait = "";
  expect_hazard(HazardKind::in_flight, steps);
}

// The thread that loads may use the registers at once (PTX ISA, 9.7.16.6.4.5); columns are not free until the wait.
TEST_F(TensorMemoryTest, RegistersNeedNoWait) {
  Steps steps;
  steps.load_wait = "";
  steps.meet = "tcgen05.wait::ld.sync.aligned;\nbar.sync 0;\n";
  expect_none(run_case({"f16", f16, f16}, steps));
}

TEST_F(TensorMemoryTest, ReportsAccumulatorsThatNothingWrote) {
  Steps steps;
  steps.before_load = "add.u32 %r7, %r7, 128;\n";
  expect_hazard(HazardKind::uninitialised_read, steps);
}

TEST_F(TensorMemoryTest, ReportsOperandsThatAreNotStored) {
  Steps steps;
  steps.store_wait = "";
  expect_hazard(HazardKind::in_flight, steps,
                {.kind = "f16", .a = f16, .b = f16, .a_in_tensor_memory = true});
}

TEST_F(TensorMemoryTest, ReportsMisuseOfAllocations) {
  Steps steps;
  steps.release = "";
  expect_hazard(HazardKind::tensor_memory, steps);
  steps = {};
  steps.release += steps.release;
  expect_hazard(HazardKind::tensor_memory, steps);
  steps = {};
  steps.meet = "";  // other warps find their columns released
  expect_hazard(HazardKind::tensor_memory, steps);
  for (const char* const columns : {"48", "16", "1024", "0"}) {
    steps = {};
    steps.allocate = fmt::format(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], {};\n", columns);
    expect_hazard(HazardKind::tensor_memory, steps);
  }
  steps = {};
  steps.allocate = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n";
  steps.release = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;\n";
  expect_hazard(HazardKind::tensor_memory, steps);  // the product has 64 columns
  steps = {};
  steps.allocate += steps.allocate;
  steps.relinquish = "";
  expect_hazard(HazardKind::deadlock, steps);
  steps = {};
  steps.allocate = steps.relinquish + steps.allocate;
  expect_hazard(HazardKind::tensor_memory, steps);
}

TEST_F(TensorMemoryTest, ReportsLanesThatAWarpDoesNotReach) {
  Steps steps;
  steps.lane_step = 64;  // warp 1 asks for lanes 64 on
  const Hazard hazard = found(run_case({"f16", f16, f16}, steps), HazardKind::tensor_memory);
  EXPECT_NE(hazard.message.find("warp 1 reaches lanes 32 to 63 only"), std::string::npos)
      << hazard.message;
  steps.lane_step = 0;  // the warp's own quarter
  expect_none(run_case({"f16", f16, f16}, steps));
}

TEST_F(TensorMemoryTest, ReportsOperandsThatAreOverwritten) {
  Steps steps;
  steps.waits = false;
  steps.before_load = "bar.sync 0;\nst.shared.b32 [data], %r1;\n" + wait_for("done", "0", "2");
  const LaunchReport report = run_case({"f16", f16, f16}, steps);
  EXPECT_TRUE(has(report, HazardKind::shared_race));
}

TEST_F(TensorMemoryTest, RowsWhoseSumsNothingLoadsMayBeOverwritten) {
  // A thread overwrites row 64 of A while the product of 128 rows is in flight; warps w < 2 load lanes 0 to 63.
  Steps steps;
  steps.waits = false;
  steps.before_load = "bar.sync 0;\n@!%p4 st.shared.b32 [data+8192], %r1;\n" +
                      wait_for("done", "0", "2") + "setp.lt.u32 %p5, %r2, 2;\n";
  const MultiplyCase each{"f16", f16, f16};
  EXPECT_TRUE(has(run_case(each, steps), HazardKind::shared_race));
  steps.load_guard = "@%p5 ";
  expect_none(run_case(each, steps));
  // Row 63, the first 8 elements, which the swizzle has moved to the end of its line.
  steps.before_load.replace(steps.before_load.find("8192"), 4, "8176");
  EXPECT_TRUE(has(run_case(each, steps), HazardKind::shared_race));
}

TEST_F(TensorMemoryTest, ReportsDescriptorsThatDoNotExist) {
  Steps steps;
  steps.a_flip = std::uint64_t{1} << 46;
  expect_hazard(HazardKind::descriptor, steps);
  steps = {};
  steps.b_flip = std::uint64_t{1} << 61;  // swizzle mode 3
  expect_hazard(HazardKind::descriptor, steps);
  for (const std::uint32_t flip : {2u << 7, 4u << 10, 2u << 4, 32u << 17, 1u << 24, 1u << 2}) {
    steps = {};
    steps.form_flip = flip;
    expect_hazard(HazardKind::descriptor, steps);
  }
}

TEST_F(TensorMemoryTest, ReleasesAndAllocatesInTurn) {
  // Warp 1 waits until warp 0 has released its columns.
  const std::string text = entry("", ".shared .b32 slot[2];\n" + registers() + R"(.reg .b32 %t;
      mov.u32 %r1, %tid.x;
      shr.u32 %r2, %r1, 5;
      shl.b32 %r3, %r2, 2;
      mov.u32 %r4, slot;
      add.u32 %r3, %r3, %r4;
      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 512;
      bar.warp.sync 0xffffffff;
      ld.shared.b32 %t, [%r3];
      tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 512;
      ret;)");
  expect_none(run(text, {1, 1, 1}, {64, 1, 1}, {}));
}

}  // namespace
}  // namespace rung::vgpu::tensor_tests
