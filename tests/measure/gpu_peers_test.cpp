// cuBLAS and cuBLASLt as peers: operands in device memory, the transposed problem, and the queue.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/verify.hpp"
#include "fake_cublas.hpp"
#include "tools/measure/peers/open.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

template <class Function>
Function* fake(const char* symbol) {
  static void* const library = dlopen(RUNG_FAKE_CUBLAS, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, symbol));
}

using Open = std::unique_ptr<Peer> (*)(const Backend&, std::string&);

std::unique_ptr<Peer> open(Open open_peer, const char* path = RUNG_FAKE_CUBLAS) {
  setenv("RUNG_CUBLAS", path, 1);
  setenv("RUNG_CUBLASLT", path, 1);
  std::string why_not;
  auto peer = open_peer(virtual_backend(), why_not);
  EXPECT_EQ(peer == nullptr, !why_not.empty()) << why_not;
  return peer;
}

class GpuPeer : public testing::TestWithParam<Open> {};

TEST_P(GpuPeer, IsRightInEveryForm) {
  const auto peer = open(GetParam());
  ASSERT_NE(peer, nullptr);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16, Dtype::tf32,
                            Dtype::bf16_bf16, Dtype::f16_f16}) {
    for (int form = 0; form < 8; ++form) {
      GemmSpec spec;
      spec.dtype = dtype;
      spec.m = 5, spec.n = 7, spec.k = 11;
      spec.a_transposed = (form & 1) != 0;
      spec.b_transposed = (form & 2) != 0;
      spec.a_padding = 2, spec.b_padding = 3, spec.c_padding = 4;
      spec.alpha = 2;
      spec.beta = (form & 4) != 0 ? 0.5 : 0;
      GemmCase problem(spec);
      const Verdict verdict =
          verify(problem, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
      EXPECT_TRUE(verdict.right) << verdict.message;
    }
  }
}

// K-major, with rows that are multiples of 16 bytes: the case that every library supports.
TEST_P(GpuPeer, IntegersOfEightBitsAreExact) {
  const auto peer = open(GetParam());
  for (const double beta : {0, 3}) {
    GemmSpec spec{.dtype = Dtype::i8, .m = 5, .n = 7, .k = 32, .b_transposed = true};
    spec.alpha = 2, spec.beta = beta;
    GemmCase problem(spec);
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

TEST_P(GpuPeer, TakesSinglePiecesOfAnyStride) {
  const auto peer = open(GetParam());
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, std::array{1, 6, 3}, std::array{6, 1, 3}}) {
    GemmCase problem({.m = m, .n = n, .k = k});
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

TEST_P(GpuPeer, SaysWhatItHasNot) {
  const auto peer = open(GetParam());
  const GemmCase integers({.dtype = Dtype::i32, .m = 2, .n = 3, .k = 4});
  EXPECT_EQ(peer->bind(integers.call(), 1).why_not, "has no product of 32-bit integers");
  GemmCase large({.m = 2, .n = 3, .k = 4});
  GemmCall call = large.call();
  call.a.row_stride = std::int64_t{1} << 31;
  EXPECT_EQ(peer->bind(call, 1).why_not, "a size exceeds its 32-bit integers");
}

TEST_P(GpuPeer, FailureIsAKernelError) {
  const auto peer = open(GetParam());
  const GemmCase problem({.m = 2, .n = 3, .k = 4});
  const Bound bound = peer->bind(problem.call(), 1);
  fake<FakeSetStatus>("fake_set_status")(13);
  try {
    bound.batch.call();
    ADD_FAILURE() << "a status of 13 went unnoticed";
  } catch (const KernelError& error) {
    EXPECT_NE(std::string(error.what()).find("CUBLAS_STATUS_FAKE"), std::string::npos);
  }
  fake<FakeSetStatus>("fake_set_status")(0);
}

TEST_P(GpuPeer, OutlivesAContext) {
  const auto peer = open(GetParam());
  const GemmCase problem({.m = 2, .n = 3, .k = 4});
  const Bound before = peer->bind(problem.call(), 1);
  EXPECT_THROW(virtual_gpu().fail("a kernel", cuda::Result::illegal_address), KernelError);
  EXPECT_THROW(before.batch.call(), KernelError);
  EXPECT_NO_THROW(peer->bind(problem.call(), 1).batch.call());
}

TEST_P(GpuPeer, SaysWhatALibraryLacks) {
  std::string why_not;
  setenv("RUNG_CUBLAS", RUNG_WRONG_BLAS, 1);
  setenv("RUNG_CUBLASLT", RUNG_WRONG_BLAS, 1);
  EXPECT_EQ(GetParam()(virtual_backend(), why_not), nullptr);
  EXPECT_EQ(why_not.find("it lacks cublas"), 0u) << why_not;
}

INSTANTIATE_TEST_SUITE_P(Cublas, GpuPeer, testing::Values(open_cublas));
INSTANTIATE_TEST_SUITE_P(CublasLt, GpuPeer, testing::Values(open_cublaslt));

TEST(Cublas, F32IsPedanticUnlessAskedOtherwise) {
  const GemmCase problem({.m = 2, .n = 3, .k = 4});
  const auto math_mode = [&] {
    open(open_cublas)->bind(problem.call(), 1).batch.call();
    return fake<FakeMathMode>("fake_math_mode")();
  };
  EXPECT_EQ(math_mode(), 2);
  setenv("RUNG_CUBLAS_MATH", "default", 1);
  EXPECT_EQ(math_mode(), 0);
  setenv("RUNG_CUBLAS_MATH", "tf32", 1);
  EXPECT_EQ(math_mode(), 3);
  unsetenv("RUNG_CUBLAS_MATH");
}

TEST(Cublas, MultipliesBatches) {
  const auto peer = open(open_cublas);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16_bf16}) {
    GemmCase problem({.dtype = dtype,
                      .m = 5,
                      .n = 7,
                      .k = 3,
                      .b_transposed = true,
                      .c_padding = 2,
                      .beta = 2,
                      .batch = 4,
                      .batch_gap = 1});
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

TEST(CublasLt, MultipliesBatchesOfEightBitFloats) {
  const auto peer = open(open_cublaslt);
  GemmCase narrow({.dtype = Dtype::e4m3,
                   .m = 5,
                   .n = 7,
                   .k = 32,
                   .b_transposed = true,
                   .beta = 2,
                   .batch = 4,
                   .batch_gap = 16});
  const Verdict verdict =
      verify(narrow, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
  EXPECT_TRUE(verdict.right) << verdict.message;
  GemmCase problem({.m = 2, .n = 3, .k = 4, .batch = 2});
  EXPECT_EQ(peer->bind(problem.call(), 1).why_not,
            "is asked for batches of e4m3 alone: for others cublas is");
}

std::string refusal(const Peer& peer, const GemmSpec& spec) {
  return peer.bind(GemmCase(spec).call(), 1).why_not;
}

TEST(Cublas, SaysWhichNarrowTypesItHas) {
  const auto peer = open(open_cublas);
  for (const Dtype dtype : {Dtype::e4m3, Dtype::e5m2}) {
    EXPECT_EQ(refusal(*peer, {.dtype = dtype, .m = 16, .n = 16, .k = 16}),
              "has no 8-bit floats: cublaslt has");
  }
  EXPECT_EQ(refusal(*peer, {.dtype = Dtype::i8, .m = 16, .n = 16, .k = 17}),
            "takes i8 only with leading dimensions of A and B that are multiples of 4");
  EXPECT_EQ(refusal(*peer, {.dtype = Dtype::i8, .m = 16, .n = 16, .k = 16, .a_transposed = true}),
            "");
}

TEST(CublasLt, SaysWhichNarrowTypesItHas) {
  const auto peer = open(open_cublaslt);
  GemmSpec spec{.dtype = Dtype::e4m3, .m = 16, .n = 16, .k = 32};
  EXPECT_EQ(refusal(*peer, spec), "takes e4m3 only with A and B along k (layout nt)");
  spec.a_transposed = spec.b_transposed = true;
  EXPECT_EQ(refusal(*peer, spec), "takes e4m3 only with A and B along k (layout nt)");
  spec.a_transposed = false;
  EXPECT_EQ(refusal(*peer, spec), "");
  spec.k = 33;
  EXPECT_EQ(refusal(*peer, spec), "has no algorithm for it");
  spec.dtype = Dtype::i8;
  EXPECT_EQ(refusal(*peer, spec), "has no algorithm for it");
  spec.b_transposed = false;
  EXPECT_EQ(refusal(*peer, spec), "takes i8 only with A and B along k (layout nt)");
  spec.dtype = Dtype::e5m2;
  EXPECT_EQ(refusal(*peer, spec), "multiplies e5m2 only by e4m3");
}

TEST(CublasLt, EightBitFloatsAreRight) {
  const auto peer = open(open_cublaslt);
  GemmCase problem({.dtype = Dtype::e4m3, .m = 5, .n = 7, .k = 32, .b_transposed = true});
  const Verdict verdict =
      verify(problem, [&](const GemmCall& call) { peer->bind(call, 1).batch.call(); });
  EXPECT_TRUE(verdict.right) << verdict.message;
}

TEST(CublasLt, GoesOnWhereAChoiceFails) {
  const auto peer = open(open_cublaslt);
  const GemmCase problem({.dtype = Dtype::i8, .m = 3, .n = 3, .k = 16, .b_transposed = true});
  const Bound bound = peer->bind(problem.call(), 1);
  EXPECT_NO_THROW(bound.batch.call());
  fake<FakeSetStatus>("fake_set_status")(13);
  const GemmCase another({.m = 3, .n = 3, .k = 5});
  EXPECT_THROW(peer->bind(another.call(), 1), KernelError) << "where all of them fail";
  fake<FakeSetStatus>("fake_set_status")(0);
}

TEST(CublasLt, TriesEachChoiceThatCanRunOnce) {
  const auto runs = fake<FakeAlgorithmRuns>("fake_algorithm_runs");
  const auto peer = open(open_cublaslt);
  const GemmCase problem({.m = 3, .n = 3, .k = 4});
  const int first = runs(0), third = runs(2);
  const Bound bound = peer->bind(problem.call(), 1);
  EXPECT_GT(runs(0), first);
  EXPECT_GT(runs(2), third);
  EXPECT_EQ(runs(1), 0);
  const int tried = runs(0) + runs(2);
  peer->bind(problem.call(), 1);
  EXPECT_EQ(runs(0) + runs(2), tried);  // the choice is cached by now
}

}  // namespace
}  // namespace rung
