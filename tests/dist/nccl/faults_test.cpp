// Invalid arguments, ranks that disagree or do not respond, and errors of NCCL.

#include <atomic>
#include <cstdlib>

#include "fixture.hpp"

namespace rung::nccl {
namespace {

/// The error messages of all ranks, where `f` makes each rank's call with its own arguments.
template <class F>
std::vector<std::string> errors_of(int ranks, const F& f,
                                   dist::TensorParallelOptions options = {.bandwidth = 300e9}) {
  return on_ranks(ranks, [&](int rank, Comm comm) {
    TensorParallel parallel(comm, options);
    f(rank, parallel);
  });
}

TEST_F(TensorParallelTest, RanksThatDisagreeAllThrow) {
  const auto errors = errors_of(3, [](int rank, TensorParallel& parallel) {
    const Case o = {.ranks = 3, .m = rank == 2 ? 9 : 6, .n = 6, .k = 8};
    Operands operands(o, rank);
    call(parallel, o, operands, nullptr);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error,
              "rung: all_gather_gemm: ranks disagree on rows: it is 2 on rank 0 and 3 on rank 2");
  }
}

TEST_F(TensorParallelTest, ARankThatRefusesStopsAll) {
  const auto errors = errors_of(2, [](int rank, TensorParallel& parallel) {
    const Case o = {.kind = Kind::reduce_scatter, .m = 6, .n = 6, .k = 8};
    Operands operands(o, rank);
    OutputMatrix c = operands.c.view();
    if (rank == 1) c.rows = 4;
    EXPECT_EQ(refusal([&] {
                parallel.gemm_reduce_scatter(1, operands.a.input(), operands.b.input(), 0, c,
                                             default_stream);
              }).second,
              rank == 1 ? "rung: gemm_reduce_scatter: C is 4 x 6; it must be 3 x 6"
                        : "rung: gemm_reduce_scatter: rank 1 refused its arguments; its own error "
                          "says why");
    call(parallel, o, operands, nullptr);  // it remains usable
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST_F(TensorParallelTest, Arguments) {
  const auto errors = errors_of(1, [](int, TensorParallel& parallel) {
    const auto text = [&](const InputMatrix& a, const InputMatrix& b, const OutputMatrix& c,
                          dist::TensorParallelCall call = {}) {
      return refusal([&] { parallel.gemm_all_reduce(1, a, b, 0, c, default_stream, call); }).second;
    };
    const std::string begin = "rung: gemm_all_reduce: ";
    float data[4] = {};
    const InputMatrix f32(data, ElementType::f32, 2, 2, 2);
    const OutputMatrix c(data, ElementType::f32, 2, 2, 2);
    EXPECT_EQ(text({data, ElementType::f32, -1, 2, 2}, f32, c),
              begin + "rows of A is -1; it must be at least 0");
    EXPECT_EQ(text(f32, {data, ElementType::f32, 2, 2, 1}, c),
              begin + "ld of B is 1; it must be at least 2");
    EXPECT_EQ(text(f32, f32, {nullptr, ElementType::f32, 2, 2, 2}), begin + "data of C is null");
    EXPECT_EQ(text({data, ElementType::i8, 2, 2, 2}, f32, c),
              begin + "A must be of f32, f64, bf16 or f16");
    EXPECT_EQ(text(f32, {data, ElementType::bf16, 2, 2, 2}, c),
              begin + "B must have the type of A");
    EXPECT_EQ(text(f32, f32, {data, ElementType::f64, 2, 2, 2}),
              begin + "C must have the type of A");
    EXPECT_EQ(text(f32, {data, ElementType::f32, 1, 2, 2}, c),
              begin + "B is 1 x 2; it must have 2 rows");
    EXPECT_EQ(text(f32, f32, c, {.chunks = 65}), begin + "chunks is 65; it must be 0 to 64");
  });
  EXPECT_EQ(errors, std::vector<std::string>(1));
}

TEST_F(TensorParallelTest, ARankThatDoesNotCallIsNoticed) {
  set_patience(std::chrono::milliseconds(200));
  for (const Transport transport : transports) {
    const auto errors = errors_of(2,
                                  [](int rank, TensorParallel& parallel) {
                                    const Case o = {.m = 6, .n = 6, .k = 8};
                                    Operands operands(o, rank);
                                    call(parallel, o, operands, nullptr);
                                    if (rank == 0) call(parallel, o, operands, nullptr);
                                  },
                                  {.transport = transport, .bandwidth = 300e9});
    EXPECT_NE(errors[0], "") << static_cast<int>(transport);
  }
}

/// A stand-in for cuStreamQuery whose streams never finish.
cuda::Result not_ready(cuda::Stream) { return cuda::Result::not_ready; }

TEST_F(TensorParallelTest, WaitingEndsByTimeoutOrByNcclsError) {
  static cuda::DriverApi busy = vgpu::virtual_driver();
  static std::atomic<bool> is_busy = false;
  busy.cuStreamQuery = [](cuda::Stream stream) {
    return is_busy ? not_ready(stream) : vgpu::virtual_driver().cuStreamQuery(stream);
  };
  static const Backend standin = {.driver = &busy,
                                  .peers = &standin_peers(),
                                  .nccl = &standin_nccl(),
                                  .streams_run_at_once = false};
  use_backend(&standin);
  for (const Result error : {Result::success, Result::remote_error}) {
    take_counts();
    const auto errors = errors_of(
        1,
        [&](int rank, TensorParallel& parallel) {
          const Case o = {.ranks = 1, .m = 6, .n = 6, .k = 8};
          Operands operands(o, rank);
          call(parallel, o, operands, nullptr);
          is_busy = true;
          set_async_error(error);
          const std::string expected =
              error == Result::success
                  ? "rung: rank 0 waited for the others until the timeout"
                  : "rung: NCCL reports: remote process exited or there was a network error";
          for (int time = 0; time < 2; ++time) {
            EXPECT_EQ(refusal([&] { parallel.synchronize(default_stream); }).second, expected);
            EXPECT_EQ(refusal([&] { call(parallel, o, operands, nullptr); }).second, expected);
          }
          is_busy = false;
          set_async_error(Result::success);
        },
        {.timeout = 0.1, .bandwidth = 300e9});
    EXPECT_EQ(errors, std::vector<std::string>(1));
    EXPECT_EQ(take_counts().aborted, 1);
  }
}

TEST_F(TensorParallelTest, WithoutNccl) {
  use_backend(nullptr);
  setenv("RUNG_NCCL", "/nowhere/libnccl.so", 1);
  const auto [status, text] = refusal([] { real_nccl(); });
  unsetenv("RUNG_NCCL");
  EXPECT_EQ(status, Status::unavailable);
  EXPECT_NE(text.find("rung: no NCCL here"), std::string::npos) << text;
}

}  // namespace
}  // namespace rung::nccl
