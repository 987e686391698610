// The benchmark of the library and its peers on random shapes. The virtual GPU replaces a GPU, and
// a fake cuBLAS computes on this CPU.

#include "tools/measure/random/random_bench.hpp"
#include "core/dtype.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "backends/cuda/virtual_gpu.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/random.hpp"
#include "fake_cublas.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/report/random_json.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

constexpr Layout nn = {false, false}, nt = {false, true}, tn = {true, false}, tt = {true, true};

void set_status_of_peers(int status) {
  static void* const library = dlopen(RUNG_FAKE_CUBLAS, RTLD_NOW | RTLD_LOCAL);
  reinterpret_cast<FakeSetStatus*>(dlsym(library, "fake_set_status"))(status);
}

std::unique_ptr<Peer> fake_cublas() {
  setenv("RUNG_CUBLAS", RUNG_FAKE_CUBLAS, 1);
  std::string why_not;
  return open_cublas(virtual_backend(), why_not);
}

RandomRequest request_of(std::vector<Dtype> dtypes, std::vector<Layout> layouts) {
  RandomRequest request;
  request.count = 2;
  request.limits.max_size = 24;
  request.dtypes = std::move(dtypes);
  request.layouts = std::move(layouts);
  request.seconds = 0.002;
  request.gpu = &virtual_gpu();
  return request;
}

std::vector<RandomResult> run(RandomRequest& request) {
  std::vector<RandomResult> results;
  request.measured = [&](const RandomResult& result) { results.push_back(result); };
  run_random_bench(request);
  return results;
}

TEST(RandomBench, MeasuresEveryTypeAndLayoutOfEachShapeInTurn) {
  RandomRequest request = request_of({Dtype::f32, Dtype::bf16_bf16}, {nn, nt, tn, tt});
  const std::vector<RandomResult> results = run(request);
  ASSERT_EQ(results.size(), 16u);
  std::set<std::tuple<Dtype, bool, bool>> kinds;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RandomResult& result = results[i];
    EXPECT_EQ(result.wrong, "");
    EXPECT_EQ(result.skipped, "");
    EXPECT_GT(result.seconds, 0);
    EXPECT_EQ(result.ratio(), 0);  // no peer to compare with
    EXPECT_TRUE(result.plan.rung.starts_with("gemm/cuda/")) << result.plan.rung;
    EXPECT_TRUE(result.plans.empty());
    const Size expected = draw_shape(1, i / 8, result.dtype, request.limits);
    EXPECT_EQ(result.size.m, expected.m);
    EXPECT_EQ(result.size.n, expected.n);
    EXPECT_EQ(result.size.k, expected.k);
    if (i < 8) kinds.insert({result.dtype, result.a_transposed, result.b_transposed});
  }
  EXPECT_EQ(kinds.size(), 8u);
}

TEST(RandomBench, EveryTypeIsRight) {
  RandomRequest request = request_of({all_dtypes.begin(), all_dtypes.end()}, {nt});
  for (const RandomResult& result : run(request)) {
    EXPECT_EQ(result.wrong, "") << name(result.dtype);
    EXPECT_GT(result.seconds, 0);
  }
}

TEST(RandomBench, SinglesRowsAndColumnsAreRightInEveryLayout) {
  RandomRequest request = request_of({Dtype::f32}, {nn, nt, tn, tt});
  request.limits.max_size = 2;
  request.count = 12;
  for (const RandomResult& result : run(request)) EXPECT_EQ(result.wrong, "");
}

TEST(RandomBench, PeersAreTimedBesideTheLibrary) {
  set_status_of_peers(0);
  const auto peer = fake_cublas();
  ASSERT_NE(peer, nullptr);
  RandomRequest request = request_of({Dtype::f32, Dtype::e4m3}, {nt});
  request.peers = {peer.get()};
  const std::vector<RandomResult> results = run(request);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_GT(results[0].ratio(), 0);
  EXPECT_GT(results[0].peers.at(0).seconds, 0);
  EXPECT_EQ(results[1].ratio(), 0);
  EXPECT_EQ(results[1].peers.at(0).why_not, "has no 8-bit floats: cublaslt has");
}

TEST(RandomBench, APeerThatFailsIsNotCompared) {
  const auto peer = fake_cublas();
  RandomRequest request = request_of({Dtype::f32}, {nn});
  request.peers = {peer.get()};
  set_status_of_peers(13);
  const std::vector<RandomResult> results = run(request);
  set_status_of_peers(0);
  EXPECT_TRUE(results.at(0).peers.at(0).why_not.starts_with("wrong: cublas"))
      << results[0].peers[0].why_not;
  EXPECT_EQ(results[0].ratio(), 0);
  EXPECT_EQ(results[0].wrong, "");
  EXPECT_GT(results[0].seconds, 0);
}

TEST(RandomBench, EndsEarlyWithWhatItHas) {
  RandomRequest request = request_of({Dtype::f32}, {nn, nt});
  request.count = 1000;
  int measured = 0;
  request.measured = [&](const RandomResult&) { ++measured; };
  request.stops = [&] { return measured == 3; };
  run_random_bench(request);
  EXPECT_EQ(measured, 3);
}

TEST(RandomBench, EveryPlanIsTimed) {
  RandomRequest request = request_of({Dtype::f32}, {tn});
  request.count = 1;
  request.rungs = {{"gemm/cuda/02_shared_tile", cuda::find_gemm_rung("gemm/cuda/02_shared_tile")},
                   {"gemm/cuda/fma_tiles", cuda::find_gemm_rung("gemm/cuda/fma_tiles")}};
  const std::vector<RandomResult> results = run(request);
  const std::vector<PlanTime>& plans = results.at(0).plans;
  ASSERT_GT(plans.size(), 2u);
  EXPECT_EQ(plans[0].rung, "gemm/cuda/02_shared_tile");  // has a single tile size
  int chosen = 0;
  for (const PlanTime& plan : plans) {
    EXPECT_EQ(plan.refused + plan.wrong, "");
    EXPECT_GT(plan.seconds, 0);
    chosen += plan.is_chosen ? 1 : 0;
    if (plan.is_chosen) {
      EXPECT_EQ(plan.rung, results[0].plan.rung);
    }
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_GE(results[0].regret, 1);
  EXPECT_LT(results[0].best_plan, plans.size());
}

TEST(RandomBench, AnEarlyEndLeavesNoRegret) {
  RandomRequest request = request_of({Dtype::f32}, {nn});
  request.rungs = {{"gemm/cuda/fma_tiles", cuda::find_gemm_rung("gemm/cuda/fma_tiles")}};
  int asked = 0;
  request.stops = [&] { return ++asked > 3; };  // after two plans
  const std::vector<RandomResult> results = run(request);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].plans.size(), 2u);
  EXPECT_EQ(results[0].regret, 0);
}

class Pool : public testing::Test {
 protected:
  PooledGemm bind(Dtype dtype, const Size& size, const Layout& layout) {
    return pool_.bind(dtype, size, layout.a_transposed, layout.b_transposed);
  }

  OperandPool pool_{virtual_gpu(), 17 << 20, 1 << 16};
};

TEST_F(Pool, RepeatsItsElements) {
  constexpr std::int64_t rows = 2, cols = 5 << 20;  // beyond the period of 4194301, twice
  const PooledGemm small = bind(Dtype::i8, {1, 1, 1}, nn);
  const PooledGemm large = bind(Dtype::i8, {rows, 1, cols}, nn);
  EXPECT_EQ(small.elements, large.elements);
  const auto elements = large.elements->as<std::int8_t>();
  EXPECT_EQ(elements.size(), 4194301u);
  std::vector<std::int8_t> a(rows * cols);
  const cuda::DriverApi& api = virtual_gpu().api();
  cuda::check(api,
              api.cuMemcpyDtoH(a.data(), reinterpret_cast<cuda::DevicePointer>(large.call.a.data),
                               a.size()),
              "cuMemcpyDtoH");
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different += a[i] != random_element<std::int8_t>(Values::reals, 1, i % 4194301) ? 1 : 0;
  }
  EXPECT_EQ(different, 0u);
}

TEST_F(Pool, AlignsItsOperands) {
  const PooledGemm problem = bind(Dtype::bf16, {3, 5, 7}, tn);
  const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  EXPECT_EQ(address(problem.call.a.data) % 256, 0u);
  EXPECT_EQ(address(problem.call.b.data) - address(problem.call.a.data), 256u);
  EXPECT_EQ(problem.b_begin, 128);
  EXPECT_EQ(problem.call.a.row_stride, 1);
  EXPECT_EQ(problem.call.a.col_stride, 3);
  EXPECT_EQ(problem.call.b.row_stride, 5);
  EXPECT_EQ(problem.call.b.col_stride, 1);
}

TEST_F(Pool, IsThereAgainAfterAFailure) {
  const SampledCheck check(bind(Dtype::f32, {8, 8, 8}, nn), 1);
  EXPECT_THROW(virtual_gpu().fail("a kernel", cuda::Result::illegal_address), KernelError);
  const GpuLibraryContender library(virtual_gpu());
  library.bind(bind(Dtype::f32, {8, 8, 8}, nn).call, 1).batch.run(1);
  EXPECT_EQ(check.error(pool_), "");
}

/// The error of the check after running the library and letting `spoil` change C on the device.
std::string error_after(OperandPool& pool, const PooledGemm& problem,
                        const std::function<void(float* c)>& spoil) {
  const SampledCheck check(problem, 1);
  const GpuLibraryContender library(virtual_gpu());
  pool.reset_c(problem.call);
  library.bind(problem.call, 1).batch.run(1);
  // Addresses of the virtual GPU are addresses of this process.
  spoil(static_cast<float*>(problem.call.c.data));
  return check.error(pool);
}

TEST_F(Pool, SampledCheckFindsErrors) {
  const Size size = {40, 35, 33};
  for (const Layout& layout : {nn, nt, tn, tt}) {
    const PooledGemm problem = bind(Dtype::f32, size, layout);
    EXPECT_EQ(error_after(pool_, problem, [](float*) {}), "");
  }
  const PooledGemm problem = bind(Dtype::f32, size, nn);
  const auto last = static_cast<std::size_t>(size.m * size.n - 1);
  EXPECT_NE(error_after(pool_, problem, [&](float* c) { c[last] += 0.01f; }).find("C(39, 34) is "),
            std::string::npos);
  EXPECT_NE(error_after(pool_, problem, [](float* c) { c[0] += 0.01f; }).find("C(0, 0) is "),
            std::string::npos);
  EXPECT_NE(error_after(pool_, problem, [&](float* c) { std::memset(c, 0xff, 4 * last); }), "");
  const PooledGemm transposed = bind(Dtype::f32, size, tn);
  const SampledCheck other(transposed, 1);
  EXPECT_NE(other.error(pool_), "");  // as if A were not transposed
}

// C is reset to NaN only if beta = 0: then a kernel that ignores C is right, and one that reads it
// is wrong.
TEST_F(Pool, ResetCIsReadWithBeta) {
  PooledGemm problem = bind(Dtype::f32, {9, 8, 7}, nn);
  const auto* const c = static_cast<const float*>(problem.call.c.data);
  pool_.reset_c(problem.call);
  EXPECT_TRUE(std::isnan(c[0]));
  problem.call.beta = 1;
  pool_.reset_c(problem.call);
  EXPECT_EQ(c[0], 0);
  EXPECT_EQ(c[71], 0);
}

TEST_F(Pool, SampledCheckKeepsLongSumsCheap) {
  const Size size = {3, 40, 16384};
  const PooledGemm problem = bind(Dtype::bf16, size, nt);
  const SampledCheck check(problem, 1);
  const GpuLibraryContender library(virtual_gpu());
  pool_.reset_c(problem.call);
  library.bind(problem.call, 2).batch.run(1);
  EXPECT_EQ(check.error(pool_), "");
}

TEST_F(Pool, APlanThatTheDriverRefusesIsRecordedAndTheRestIsTimed) {
  const Size size = {16, 16, 16};
  cuda::DriverApi api = virtual_gpu().api();
  api.cuTensorMapEncodeTiled = [](auto...) { return cuda::Result::invalid_value; };
  cuda::VirtualGpu gpu(api, std::nullopt, false, [](const auto&, const auto&) {});
  gpu.make_current();
  OperandPool pool(gpu, 1 << 16, 1 << 16);
  const auto bind = [&] { return pool.bind(Dtype::bf16, size, false, true); };
  const SampledCheck check(bind(), 1);
  const auto rung = [](const char* id) {
    return cuda::NamedGemmRung{id, cuda::find_gemm_rung(id)};
  };
  PlanTimesRequest request;
  request.gpu = &gpu;
  request.rungs = {rung("gemm/cuda/24_tma"), rung("gemm/cuda/21_mma_sync")};
  request.seconds = 0.002;
  const LibraryPlan chosen = {"gemm/cuda/21_mma_sync", {}};
  const std::vector<PlanTime> plans = time_plans(request, chosen, pool, check, bind);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].refused.find("cuTensorMapEncodeTiled: "), 0u) << plans[0].refused;
  EXPECT_EQ(plans[0].wrong, "");
  EXPECT_EQ(plans[0].seconds, 0);
  EXPECT_EQ(plans[1].refused + plans[1].wrong, "");
  EXPECT_GT(plans[1].seconds, 0);
  EXPECT_EQ(regret(plans), 1);
}

/// Mode batch_invariant uses kernels that are not rungs.
TEST_F(Pool, PlansOfModeBatchInvariant) {
  const GpuLibraryContender library(virtual_gpu(), ComputeMode::batch_invariant);
  const auto plan = [](const Size& size) {
    return library_plan(virtual_gpu(), {.dtype = Dtype::bf16,
                                        .m = size.m,
                                        .n = size.n,
                                        .k = size.k,
                                        .alpha = 1,
                                        .a = {nullptr, size.k, 1},
                                        .b = {nullptr, 1, size.k},
                                        .beta = 0,
                                        .c = {nullptr, size.n, 1},
                                        .compute_mode = ComputeMode::batch_invariant});
  };
  EXPECT_EQ(plan({8192, 8192, 8192}).rung, "gemm/cuda/summed_parts");
  EXPECT_EQ(plan({8192, 8192, 4096}).rung, "gemm/cuda/wgmma_tiles");
  EXPECT_EQ(plan({4, 64, 8192}).rung, "gemm/cuda/few_rows");
}

TEST_F(Pool, AKernelThatIsNoRungIsTimed) {
  const Size size = {4, 40, 256};
  const auto bind = [&] { return this->bind(Dtype::bf16, size, nt); };
  const SampledCheck check(bind(), 1);
  PlanTimesRequest request;
  request.gpu = &virtual_gpu();
  request.seconds = 0.002;
  const std::vector<PlanTime> plans =
      time_plans(request, {"gemm/cuda/few_rows", {}}, pool_, check, bind);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].refused + plans[0].wrong, "");
  EXPECT_GT(plans[0].seconds, 0);
}

TEST(RandomBench, AddsToCWithBeta) {
  RandomRequest request = request_of({Dtype::f32, Dtype::bf16_bf16}, {nt});
  request.beta = 1;
  for (const RandomResult& result : run(request)) {
    EXPECT_EQ(result.wrong, "");
    EXPECT_GT(result.seconds, 0);
  }
  EXPECT_EQ(Json::parse(RandomJson({}, request, "gpu").text(true)).at("random").at("beta"), 1);
}

}  // namespace
}  // namespace rung
