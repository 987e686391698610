// Tensor parallel products of every schedule, transport, type and layout, compared with exact
// results.

#include <map>
#include <random>

#include "fixture.hpp"

namespace rung::nccl {
namespace {

TEST_F(TensorParallelTest, EveryScheduleOnEveryTransport) {
  for (const Kind kind : kinds) {
    for (const Transport transport : transports) {
      for (const int ranks : {1, 2, 3, 4}) {
        const auto run_by = [&](Schedule schedule, int chunks = 0) {
          run({.kind = kind,
               .ranks = ranks,
               .m = 24 * ranks,
               .n = 40,
               .k = 64,
               .transport = transport,
               .schedule = schedule,
               .chunks = chunks});
        };
        run_by(Schedule::sequential);
        run_by(Schedule::exchanged);
        run_by(Schedule::overlapped, 1);
        run_by(Schedule::overlapped, 2);
        run_by(Schedule::fused, 2);
      }
    }
  }
}

TEST_F(TensorParallelTest, OddSizesTypesAndLayouts) {
  std::mt19937 random(27);
  const auto pick = [&](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  using enum ElementType;
  using enum Order;
  for (int i = 0; i < 48; ++i) {
    const ElementType in = pick(bf16, f16, f32, f64);
    const bool is_16_bit = in == bf16 || in == f16;
    Case o = {.kind = pick(Kind::all_gather, Kind::reduce_scatter, Kind::all_reduce),
              .ranks = pick(2, 3, 4),
              .n = pick(1, 7, 33, 70),
              .k = pick(3, 17, 64),
              .transport = pick(Transport::nccl, Transport::copy_engine),
              .schedule = pick(Schedule::automatic, Schedule::sequential, Schedule::overlapped,
                               Schedule::exchanged, Schedule::fused),
              .chunks = pick(0, 1, 2, 5),
              .in = in,
              .out = is_16_bit ? pick(in, f32) : in,
              .a = pick(row_major, col_major),
              .b = pick(row_major, col_major),
              .c = pick(row_major, col_major),
              .padding = pick(0, 0, 3),
              .alpha = pick(1.0, 2.0),
              .beta = pick(0.0, 0.0, 1.0, 3.0)};
    o.m = o.kind == Kind::all_reduce ? pick(1, 5, 50) : o.ranks * pick(1, 3, 17);
    run(o);
  }
}

TEST_F(TensorParallelTest, EmptyMatrices) {
  for (const Kind kind : kinds) {
    for (const Transport transport : transports) {
      run({.kind = kind, .m = 0, .n = 8, .k = 8, .transport = transport});
      run({.kind = kind, .m = 8, .n = 0, .k = 8, .transport = transport});
      run({.kind = kind, .m = 8, .n = 8, .k = 0, .transport = transport, .beta = 2});
      run({.kind = kind,
           .m = 8,
           .n = 8,
           .k = 0,
           .transport = transport,
           .schedule = Schedule::sequential,
           .beta = 2});
    }
  }
}

TEST_F(TensorParallelTest, DifferentShapesFollowEachOther) {
  for (const Transport transport : transports) {
    const auto errors = on_ranks(2, [&](int rank, Comm comm) {
      TensorParallel parallel(comm, {.transport = transport});
      EXPECT_EQ(parallel.transport(), transport);
      for (const std::int64_t m : {8, 64, 16, 128}) {
        for (const Kind kind : kinds) {
          const Case o = {.kind = kind, .m = m, .n = 24, .k = 32, .chunks = 2};
          Operands operands(o, rank);
          call(parallel, o, operands, nullptr);
          const std::string wrong = operands.difference();
          if (!wrong.empty()) throw std::runtime_error(wrong);
        }
      }
    });
    EXPECT_EQ(errors, std::vector<std::string>(2));
  }
}

// Real numbers whose sums over three ranks depend on the order, over links of any bandwidth and
// with either transport.
TEST_F(TensorParallelTest, DeterministicSumsHaveTheSameBits) {
  constexpr int ranks = 3;
  constexpr std::int64_t m = 24, n = 16, k = 32;
  const auto real = [](std::int64_t i, std::int64_t j) {
    return static_cast<double>((i * 7919 + j * 104729) % 1000) / 999 - 0.5;
  };
  const auto results = [&](double bandwidth, bool deterministic) {
    std::vector<unsigned char> all(static_cast<std::size_t>(ranks * m * n * 2));
    const auto errors = on_ranks(ranks, [&](int rank, Comm comm) {
      TensorParallel parallel(comm, {.transport = Transport::copy_engine,
                                     .bandwidth = bandwidth,
                                     .deterministic = deterministic});
      const auto part = [&](std::int64_t row, std::int64_t rows, std::int64_t cols) {
        return DevicePart(ElementType::bf16, row, 0, rows, cols, Order::row_major, 0, real);
      };
      const DevicePart a = part(100 * rank, m, k), b = part(1000 + 100 * rank, k, n);
      const DevicePart c = part(0, m, n);
      parallel.gemm_all_reduce(1, a.input(), b.input(), 0, c.view(), default_stream);
      parallel.synchronize(default_stream);
      api.cuMemcpyDtoH(&all[static_cast<std::size_t>(rank * m * n * 2)],
                       reinterpret_cast<cuda::DevicePointer>(c.view().data),
                       static_cast<std::size_t>(m * n * 2));
    });
    EXPECT_EQ(errors, std::vector<std::string>(ranks));
    return all;
  };
  const auto chosen_freely = results(300e9, false);  // NCCL's reduction, as the product is small
  const auto first = results(300e9, true);
  EXPECT_NE(first, chosen_freely);
  for (const double bandwidth : {1e6, 1e13}) EXPECT_EQ(results(bandwidth, true), first);
}

TEST_F(TensorParallelTest, SendsWhatTheScheduleHasTo) {
  const Case o = {.m = 32, .n = 48, .k = 64, .calls = 1};  // bf16
  const std::int64_t a = o.m * o.k * 2, c = o.m * o.n * 2;
  const auto bytes = [&](Kind kind) {
    Case other = o;
    other.kind = kind;
    take_counts();
    run(other);
    const std::int64_t with = take_counts().sent;
    other.calls = 2;
    run(other);
    return take_counts().sent - with;  // of one more call, without another agreement
  };
  EXPECT_EQ(bytes(Kind::all_gather), a);      // each half to the other rank
  EXPECT_EQ(bytes(Kind::reduce_scatter), c);  // half of the sums of each rank
  EXPECT_EQ(bytes(Kind::all_reduce), 2 * c);  // and back
}

TEST_F(TensorParallelTest, NcclGathersInASymmetricWindowWhereItHasThem) {
  static const Backend old = {.driver = &vgpu::virtual_driver(),
                              .peers = &standin_peers(),
                              .nccl = &standin_nccl_2_18(),
                              .streams_run_at_once = false};
  const Case o = {.m = 32,
                  .n = 24,
                  .k = 40,
                  .transport = Transport::copy_engine,
                  .schedule = Schedule::sequential,
                  .padding = 3,
                  .calls = 3};
  const auto gathered = [&] {
    take_counts();
    run(o);
    return take_counts().gathered_in_windows;
  };
  EXPECT_EQ(gathered(), 2 * 3);
  refuse_windows(true);
  EXPECT_EQ(gathered(), 0);
  refuse_windows(false);
  use_backend(&old);
  EXPECT_EQ(gathered(), 0);
}

TEST_F(TensorParallelTest, AWindowGrows) {
  const Case o = {.ranks = 2,
                  .m = 1 << 12,
                  .n = 2,
                  .k = 1032,  // more than the initial window of 8 MiB
                  .schedule = Schedule::sequential,
                  .calls = 1};
  take_counts();
  run(o);
  EXPECT_EQ(take_counts().gathered_in_windows, 2);
}

TEST_F(TensorParallelTest, ReplaysAllGather) {
  // The virtual GPU executes a graph immediately, so both ranks must be ready before the copies are
  // replayed. An all-gather sends an operand, which is always ready.
  const Case o = {.m = 16, .n = 24, .k = 32, .chunks = 2};
  const auto errors = on_ranks(1, [&](int rank, Comm comm) {
    TensorParallel parallel(comm);
    Case one = o;
    one.ranks = 1;
    Operands operands(one, rank);
    cuda::Stream stream = nullptr;
    api.cuStreamCreate(&stream, cuda::stream_non_blocking);
    api.cuStreamBeginCapture(stream, cuda::CaptureMode::thread_local_only);
    EXPECT_EQ(refusal([&] { call(parallel, one, operands, stream); }).second,
              "rung: all_gather_gemm: the first call of a shape cannot be captured");
    cuda::Graph graph = nullptr;
    api.cuStreamEndCapture(stream, &graph);
    call(parallel, one, operands, stream);
    operands.c.reset();
    api.cuStreamBeginCapture(stream, cuda::CaptureMode::thread_local_only);
    call(parallel, one, operands, stream);
    ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), cuda::Result::success);
    cuda::GraphExec exec = nullptr;
    ASSERT_EQ(api.cuGraphInstantiate(&exec, graph, 0), cuda::Result::success);
    ASSERT_EQ(api.cuGraphLaunch(exec, stream), cuda::Result::success);
    EXPECT_EQ(operands.difference(), "");
  });
  EXPECT_EQ(errors, std::vector<std::string>(1));
}

TEST_F(TensorParallelTest, TimelinesHaveEveryPartOfACall) {
  const Case o = {.kind = Kind::reduce_scatter,
                  .m = 32,
                  .n = 24,
                  .k = 16,
                  .transport = Transport::copy_engine,
                  .chunks = 2};
  const auto errors = on_ranks(2, [&](int rank, Comm comm) {
    TensorParallel parallel(comm, {.bandwidth = 300e9});
    Operands operands(o, rank);
    std::vector<dist::TimelineSpan> timeline;
    call(parallel, o, operands, nullptr, &timeline);
    EXPECT_EQ(operands.difference(), "");
    std::map<std::string, std::int64_t> rows;
    for (const dist::TimelineSpan& span : timeline) {
      rows[span.lane + ": " + span.work] += span.rows;
      EXPECT_LE(0, span.begin) << span.work;
      EXPECT_LE(span.begin, span.end) << span.work;
    }
    const std::map<std::string, std::int64_t> expected = {{"products: product", 32},
                                                          {"products: wait for copy", 0},
                                                          {"arrivals: wait for arrival", 16},
                                                          {"arrivals: copy", 16},
                                                          {"sends: send", 16}};
    EXPECT_EQ(rows, expected);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST_F(TensorParallelTest, ATimelineIsNotCaptured) {
  const auto errors = on_ranks(1, [&](int rank, Comm comm) {
    TensorParallel parallel(comm);
    const Case o = {.ranks = 1, .m = 8, .n = 8, .k = 8};
    Operands operands(o, rank);
    call(parallel, o, operands, nullptr);
    cuda::Stream stream = nullptr;
    api.cuStreamCreate(&stream, cuda::stream_non_blocking);
    api.cuStreamBeginCapture(stream, cuda::CaptureMode::thread_local_only);
    std::vector<dist::TimelineSpan> timeline;
    EXPECT_EQ(refusal([&] { call(parallel, o, operands, stream, &timeline); }).second,
              "rung: all_gather_gemm: a call with a timeline cannot be captured");
    cuda::Graph graph = nullptr;
    EXPECT_EQ(api.cuStreamEndCapture(stream, &graph), cuda::Result::success);
  });
  EXPECT_EQ(errors, std::vector<std::string>(1));
}

}  // namespace
}  // namespace rung::nccl
