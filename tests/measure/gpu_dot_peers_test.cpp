// cuBLAS and CUB as peers of the dot product and of the sum: vectors and result in device memory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/verify.hpp"
#include "tools/measure/bench.hpp"
#include "tools/measure/peers/open.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

using Open = std::unique_ptr<Peer> (*)(const Backend&, std::string&);

std::unique_ptr<Peer> open_to_reduce(Open open_peer) {
  setenv("RUNG_CUBLAS", RUNG_FAKE_CUBLAS, 1);
  setenv("RUNG_CUB", RUNG_FAKE_CUB, 1);
  std::string why_not;
  auto peer = open_peer(virtual_backend(), why_not);
  EXPECT_NE(peer, nullptr) << why_not;
  return peer;
}

Verdict verdict_of(const Peer& peer, const DotSpec& spec) {
  DotCase problem(spec);
  return verify(problem, [&](const DotCall& call) {
    return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
      Out sum{};
      peer.bind(call, 1, &sum).batch.call();
      return static_cast<double>(sum);
    });
  });
}

std::string why_not(const Peer& peer, const DotSpec& spec) {
  const DotCase problem(spec);
  return peer.bind(problem.call(), 1, nullptr).why_not;
}

TEST(CublasDot, IsRight) {
  const auto peer = open_to_reduce(open_cublas);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const auto& [incx, incy] : {std::pair{1, 1}, std::pair{2, -3}, std::pair{-1, 1}}) {
      const Verdict verdict =
          verdict_of(*peer, {.dtype = dtype, .n = 1001, .incx = incx, .incy = incy});
      EXPECT_TRUE(verdict.right) << verdict.message;
    }
  }
}

TEST(CublasDot, SaysWhatItHasNot) {
  const auto peer = open_to_reduce(open_cublas);
  EXPECT_EQ(why_not(*peer, {.n = 3, .sum = true}), "has no sum");
  EXPECT_EQ(why_not(*peer, {.dtype = Dtype::i32, .n = 3}), "has no dot product of 32-bit integers");
  EXPECT_EQ(why_not(*peer, {.dtype = Dtype::f16, .n = 3}), "rounds its result to f16");
  DotCall call = DotCase({.n = 3}).call();
  call.n = std::int64_t{1} << 31;
  EXPECT_EQ(peer->bind(call, 1, nullptr).why_not, "a size exceeds its 32-bit integers");
}

TEST(Cub, IsRight) {
  const auto peer = open_to_reduce(open_cub);
  EXPECT_EQ(peer->version(), "3.1.2");
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32}) {
    for (const bool sum : {false, true}) {
      const Verdict verdict = verdict_of(*peer, {.dtype = dtype, .n = 1001, .sum = sum});
      EXPECT_TRUE(verdict.right) << verdict.message;
    }
  }
}

TEST(Cub, SaysWhatItHasNot) {
  const auto peer = open_to_reduce(open_cub);
  EXPECT_EQ(why_not(*peer, {.n = 3, .incy = 2}), "needs unit strides");
  EXPECT_EQ(why_not(*peer, {.dtype = Dtype::bf16, .n = 3}), "was not compiled for bf16");
  setenv("RUNG_CUB", RUNG_WRONG_BLAS, 1);
  std::string reason;
  EXPECT_EQ(open_cub(virtual_backend(), reason), nullptr);
  EXPECT_EQ(reason, "it lacks rung_cub_version");
}

TEST(GpuBench, TakesDotProductsAndSums) {
  const auto cub = open_to_reduce(open_cub);
  for (const char* op : {"dot", "sum"}) {
    BenchRequest request;
    request.op = op;
    request.size = {1, 1000, 1};
    request.seconds = 0.01;
    request.backend = &virtual_backend();
    request.rungs = select({fmt::format("{}/cuda/10", op)});
    request.peers = {cub.get()};
    const BenchResult result = run_bench(request);
    EXPECT_EQ(result.bytes, op == std::string("dot") ? 8000 : 4000);
    const BenchRow& rung = result.rows.front();
    EXPECT_TRUE(rung.timed()) << rung.skipped << rung.verdict.message;
    ASSERT_EQ(rung.peers.size(), 1u);
    EXPECT_GT(rung.peers.front().ratio, 0) << rung.peers.front().why_not;
  }
}

}  // namespace
}  // namespace rung
