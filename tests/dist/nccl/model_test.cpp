// Which schedule the model chooses, with the rates of two H200.

#include "dist/nccl/model.hpp"

#include <gtest/gtest.h>

namespace rung::nccl {
namespace {

using dist::Schedule;

const Rates h200 = {.flops = 790e12,
                    .memory = 3.6e12,
                    .exchange = {.seconds = 16e-6, .bytes_per_second = 370e9},
                    .collective = {.seconds = 20e-6, .bytes_per_second = 250e9}};

/// bf16, N and K of 8192 over the ranks.
Expected chosen(Operation operation, std::int64_t m, const Rates& rates,
                Schedule asked = Schedule::automatic, int ranks = 2) {
  const bool gathers = operation == Operation::all_gather_gemm;
  const std::int64_t n = gathers ? 8192 / ranks : 8192, k = gathers ? 8192 : 8192 / ranks;
  const bool scatters = operation == Operation::gemm_reduce_scatter;
  const std::int64_t rows_of_a = gathers ? m / ranks : m, rows_of_c = scatters ? m / ranks : m;
  const ElementType type = ElementType::bf16;
  const Product product = {.a = {nullptr, type, rows_of_a, k, k},
                           .b = {nullptr, type, k, n, n},
                           .c = {nullptr, type, rows_of_c, n, n}};
  return choose({operation, product, {.schedule = asked}}, ranks, rates);
}

TEST(ScheduleModel, SmallProductsAreNotDivided) {
  EXPECT_EQ(chosen(Operation::all_gather_gemm, 256, h200).schedule, Schedule::exchanged);
  EXPECT_EQ(chosen(Operation::gemm_reduce_scatter, 256, h200).schedule, Schedule::sequential);
  EXPECT_EQ(chosen(Operation::gemm_all_reduce, 256, h200).schedule, Schedule::sequential);
}

TEST(ScheduleModel, LargeOnesAreOverlapped) {
  for (const Operation operation :
       {Operation::all_gather_gemm, Operation::gemm_reduce_scatter, Operation::gemm_all_reduce}) {
    EXPECT_EQ(chosen(operation, 4096, h200).schedule, Schedule::overlapped);
  }
  EXPECT_EQ(chosen(Operation::all_gather_gemm, 4096, h200).chunks, 1);
  EXPECT_EQ(chosen(Operation::gemm_reduce_scatter, 4096, h200).chunks, 2);
}

// Measured on four H200: 319 us overlapped, 270 us sequential; with 4096 rows 478 and 509 us.
TEST(ScheduleModel, ManyRanksSendManyMessages) {
  const auto of_four = [](std::int64_t m) {
    return chosen(Operation::gemm_all_reduce, m, h200, Schedule::automatic, 4).schedule;
  };
  EXPECT_EQ(of_four(2048), Schedule::sequential);
  EXPECT_EQ(of_four(4096), Schedule::overlapped);
}

TEST(ScheduleModel, DoesWhatTheCallAsksFor) {
  for (const Schedule asked : {Schedule::sequential, Schedule::overlapped, Schedule::exchanged}) {
    EXPECT_EQ(chosen(Operation::all_gather_gemm, 1024, h200, asked).schedule, asked);
  }
  EXPECT_EQ(chosen(Operation::gemm_reduce_scatter, 1024, h200, Schedule::exchanged).schedule,
            Schedule::sequential);
}

TEST(ScheduleModel, OverNcclOnlyAnAllGatherIsOverlapped) {
  Rates over_nccl = h200;
  over_nccl.free_share = 100.0 / 132;
  EXPECT_EQ(chosen(Operation::all_gather_gemm, 4096, over_nccl).schedule, Schedule::overlapped);
  EXPECT_EQ(chosen(Operation::gemm_reduce_scatter, 4096, over_nccl).schedule, Schedule::sequential);
}

}  // namespace
}  // namespace rung::nccl
