// The bench on a device with a queue: graphs, cold operands, and the report.

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/case.hpp"
#include "core/dtype.hpp"
#include "tools/measure/bench.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/gpu_environment.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/report/bench_table.hpp"
#include "tools/report/gpu_summary.hpp"
#include "tools/report/json.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

const RungInfo& coalesced() { return *select({"gemm/cuda/01"}).front(); }

TEST(Graph, RunsItsCallsWhenItIsRunAndNotBefore) {
  const GemmSpec spec = {.m = 3, .n = 4, .k = 5, .beta = 1, .values = Values::integers};
  const GemmCase recorded(spec);
  const GemmCase called(spec);
  const std::uint64_t before = recorded.c().fingerprint();

  const BoundCall batch = virtual_backend().bind(coalesced(), recorded.call(), 1);
  const BoundCall graph = virtual_backend().record(batch, 3);
  batch.download();
  EXPECT_EQ(recorded.c().fingerprint(), before);

  graph.run(2);
  batch.download();
  const BoundCall reference = virtual_backend().bind(coalesced(), called.call(), 1);
  reference.run(6);
  reference.download();
  EXPECT_EQ(recorded.c().fingerprint(), called.c().fingerprint());
}

TEST(Graph, OfACpuThereIsNone) {
  EXPECT_FALSE(find_backend("cpu")->record([](std::int64_t) {}, 3));
}

TEST(Graph, IsLostWithTheContext) {
  const GemmCase problem({.m = 3, .n = 4, .k = 5});
  const BoundCall graph =
      virtual_backend().record(virtual_backend().bind(coalesced(), problem.call(), 1), 2);
  EXPECT_THROW(virtual_gpu().fail("a kernel", cuda::Result::illegal_address), KernelError);
  EXPECT_THROW(graph.run(1), KernelError);
}

BenchResult bench(const std::vector<const Peer*>& peers, bool cold) {
  BenchRequest request;
  request.op = "gemm";
  request.size = {64, 64, 64};
  request.options.cold = cold;
  request.seconds = 0.01;
  request.backend = &virtual_backend();
  request.rungs = {&coalesced()};
  request.peers = peers;
  return run_bench(request);
}

TEST(GpuBench, ColdOperandsExceedTheCacheOfTheDevice) {
  EXPECT_EQ(virtual_backend().cache_bytes(), 64 << 10);
  EXPECT_EQ(bench({}, false).operand_sets, 1u);
  // Three sets of 48 KiB are more than twice the cache of 64 KiB.
  const BenchResult result = bench({}, true);
  EXPECT_EQ(result.operand_sets, 3u);
  EXPECT_TRUE(result.rows.front().timed()) << result.rows.front().verdict.message;
}

TEST(GpuBench, TheLibraryIsCalledInTheQueueOfTheRungs) {
  const BenchRow library = bench({}, true).rows.at(1);
  EXPECT_EQ(library.name, "library");
  EXPECT_TRUE(library.timed()) << library.skipped << library.verdict.message;
  EXPECT_EQ(library.chose.find("gemm/cuda/"), 0u) << library.chose;
}

TEST(GpuBench, OperandsOfTheLibraryAreLostWithTheContext) {
  const GemmCase problem({.m = 3, .n = 4, .k = 5});
  const GpuLibraryContender library(virtual_gpu());
  const Bound lost = library.bind(problem.call(), 1);
  EXPECT_THROW(virtual_gpu().fail("a kernel", cuda::Result::illegal_address), KernelError);
  EXPECT_THROW(lost.batch.run(1), KernelError);
  EXPECT_NO_THROW(library.bind(problem.call(), 1).batch.run(1));  // in the new context
}

TEST(GpuBench, PeersAreVerifiedAndTimedBesideTheRungs) {
  setenv("RUNG_CUBLAS", RUNG_FAKE_CUBLAS, 1);
  std::string why_not;
  const auto peer = open_cublas(virtual_backend(), why_not);
  ASSERT_NE(peer, nullptr) << why_not;
  BenchResult result = bench({peer.get()}, true);
  const BenchRow& rung = result.rows.front();
  ASSERT_EQ(rung.peers.size(), 1u);
  EXPECT_EQ(rung.peers.front().why_not, "");
  EXPECT_GT(rung.peers.front().ratio, 0);
  EXPECT_EQ(result.leading_dimensions, (std::vector<std::int64_t>{64, 64, 64}));

  // Turns the result into one of a GPU.
  result.device = "gpu Fake";
  result.rows.front().graph_seconds = result.rows.front().seconds;
  result.rows.front().host_seconds = result.rows.front().seconds;
  result.rows.at(1).host_seconds = summarize(std::vector<double>{2.5e-6});
  const std::string table = bench_table(result);
  EXPECT_NE(table.find("A 64x64 (ld 64), B 64x64 (ld 64), C 64x64 (ld 64)"), std::string::npos);
  for (const char* heading : {"time", "in graph", "GB/s", "TFLOP/s", "vs cublas"}) {
    EXPECT_NE(table.find(heading), std::string::npos) << table;
  }
  EXPECT_NE(table.find("host, per call: library 2.50 us\n"), std::string::npos) << table;
  const Json json = to_json(result).at(0);
  EXPECT_EQ(json.at("graph_seconds").at("median"), json.at("seconds").at("median"));
  EXPECT_EQ(json.at("host_seconds").at("median"), json.at("seconds").at("median"));
  EXPECT_EQ(json.at("leading_dimensions"), Json({64, 64, 64}));
}

/// Verifies ragged groups on GPU and CPU, with and without block scales.
TEST(GpuBench, GroupsWithAndWithoutBlockScales) {
  WorkloadOptions options = {.dtype = Dtype::e4m3, .b_transposed = true, .groups = 3, .zipf = true};
  const GpuLibraryContender on_gpu(virtual_gpu());
  const LibraryContender on_cpu;
  const auto verdict = [&](const Backend& backend, const Contender& contender) {
    return make_workload("gemm", {50, 144, 272}, options, backend)->verify(contender).verdict;
  };
  for (const bool block_scales : {false, true}) {
    options.block_scales = block_scales;
    EXPECT_TRUE(verdict(virtual_backend(), on_gpu).right)
        << verdict(virtual_backend(), on_gpu).message;
    EXPECT_TRUE(verdict(*find_backend("cpu"), on_cpu).right);
  }
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i8, Dtype::tf32}) {
    options = {.dtype = dtype, .b_transposed = true, .groups = 3};
    EXPECT_TRUE(verdict(virtual_backend(), on_gpu).right) << name(dtype);
  }
  options = {.dtype = Dtype::e4m3, .b_transposed = true, .groups = 3, .block_scales = true};
  setenv("RUNG_CUBLAS", RUNG_FAKE_CUBLAS, 1);
  std::string why_not;
  const auto cublas = open_cublas(virtual_backend(), why_not);
  ASSERT_NE(cublas, nullptr) << why_not;
  EXPECT_EQ(
      make_workload("gemm", {50, 144, 272}, options, virtual_backend())->bind(*cublas).why_not,
      "groups with block scales are timed as calls of the library");
}

TEST(GpuReport, SaysWhatTheDriverTellsAndNoMore) {
  GpuEnvironment gpu = {.name = "NVIDIA H200",
                        .arch = 90,
                        .cuda_version = 13000,
                        .multiprocessors = 132,
                        .memory_bytes = std::int64_t{140} << 30,
                        .l2_bytes = 60 << 20,
                        .peak_bandwidth = 4.8e12,
                        .nvml = {},
                        .ceilings = {{{"f32", 60e3}}, 4400}};
  EXPECT_EQ(gpu_summary(gpu),
            "device: NVIDIA H200 (sm_90, 132 multiprocessors)\n"
            "driver: CUDA 13.0\n"
            "memory: 140 GiB, L2 cache 60 MiB\n"
            "bandwidth: 4400 GB/s measured, 4800 GB/s by the memory's clock\n"
            "multiply-adds: f32 60.0 TFLOP/s\n");
  EXPECT_EQ(to_json(gpu).at("driver"), nullptr);
  EXPECT_EQ(to_json(gpu).at("clock_mhz"), nullptr);
  gpu.ceilings.multiply_add = {{"bf16", 945e3}, {"bf16-bf16", 945e3}, {"e4m3", 1.9e6}};
  EXPECT_NE(gpu_summary(gpu).find("\nmultiply-adds: bf16 945, e4m3 1900 TFLOP/s\n"),
            std::string::npos);
  gpu.nvml = {"580.95.05", 1980, 1980, 3201, 700};
  EXPECT_NE(gpu_summary(gpu).find("driver: 580.95.05, CUDA 13.0\n"), std::string::npos);
  EXPECT_NE(gpu_summary(gpu).find("power limit 700 W\n"), std::string::npos);
  EXPECT_EQ(to_json(gpu).at("power_limit_watts"), 700);
}

}  // namespace
}  // namespace rung
