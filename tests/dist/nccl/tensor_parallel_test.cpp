// Tensor parallel products of several ranks on the virtual GPU against exact results: small integers,
// whose sums are exact in every type and order.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>

#include "../../library/cuda/fixture.hpp"
#include "../../library/cuda/product.hpp"
#include "dist/nccl/product.hpp"
#include "rung/nccl.hpp"
#include "virtual_ranks.hpp"

namespace rung::nccl {
namespace {

using dist::Schedule, dist::TensorParallel, dist::TensorParallelCall, dist::TensorParallelOptions,
    dist::Transport;

enum class Kind { all_gather, reduce_scatter, all_reduce };

struct Case {
  Kind kind = Kind::all_gather;
  int ranks = 2;
  std::int64_t m = 0, n = 0, k = 0;  // of the whole product
  Transport transport = Transport::nccl;
  Schedule schedule = Schedule::overlapped;
  int chunks = 1;
  ElementType in = ElementType::bf16, out = ElementType::bf16;
  Order a = Order::row_major, b = Order::row_major, c = Order::row_major;
  std::int64_t padding = 0;
  double alpha = 1, beta = 0;
  int calls = 2;

  std::string text() const {
    return testing::PrintToString(static_cast<int>(kind)) + " on " + std::to_string(ranks) + ": " +
           std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
           " transport " + std::to_string(static_cast<int>(transport)) + " schedule " +
           std::to_string(static_cast<int>(schedule)) + " chunks " + std::to_string(chunks) +
           " types " + std::to_string(static_cast<int>(in)) + " " +
           std::to_string(static_cast<int>(out)) + " padding " + std::to_string(padding) +
           " orders " + std::to_string(static_cast<int>(a)) + std::to_string(static_cast<int>(b)) +
           std::to_string(static_cast<int>(c));
  }
};

double a_of(std::int64_t i, std::int64_t p) { return static_cast<double>((i * 7 + p * 3) % 5 - 2); }
double b_of(std::int64_t p, std::int64_t j) {
  return static_cast<double>((p * 5 + j * 11) % 4 - 1);
}
double c_of(std::int64_t i, std::int64_t j) { return static_cast<double>((i + 2 * j) % 7); }

/// A part of a matrix on a rank's device, with untouched elements between its lines.
class Part {
 public:
  using Element = double(std::int64_t, std::int64_t);

  Part(ElementType type, std::int64_t first_row, std::int64_t first_col, std::int64_t rows,
       std::int64_t cols, Order order, std::int64_t padding, Element* element)
      : first_row_(first_row), first_col_(first_col) {
    view_ = {nullptr, type, rows, cols, (order == Order::row_major ? cols : rows) + padding, order};
    view_.ld = std::max<std::int64_t>(view_.ld, 1);
    const std::int64_t lines = order == Order::row_major ? rows : cols;
    bytes_.assign(static_cast<std::size_t>(lines * view_.ld * bytes_of(type)), 0x5A);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) put(i, j, element(first_row + i, first_col + j));
    }
    before_ = bytes_;
    memory_ = std::make_unique<cuda::DeviceArray<unsigned char>>(vgpu::virtual_driver(), bytes_);
    view_.data = memory_->data();
  }

  const OutputMatrix& view() const { return view_; }
  InputMatrix input() const { return read_only(view_); }
  void reset() { memory_->write(before_); }
  /// The first byte that is not as expected, also between lines; zeros may have either sign.
  template <class Expected>
  std::string difference(const Expected& expected) {
    bytes_ = before_;
    for (std::int64_t i = 0; i < view_.rows; ++i) {
      for (std::int64_t j = 0; j < view_.cols; ++j) {
        put(i, j, expected(first_row_ + i, first_col_ + j));
      }
    }
    std::vector<unsigned char> got = memory_->read();
    for (std::int64_t i = 0; i < view_.rows; ++i) {
      for (std::int64_t j = 0; j < view_.cols; ++j) make_zero_positive(&got[at(i, j)]);
    }
    for (std::size_t byte = 0; byte < got.size(); ++byte) {
      if (got[byte] != bytes_[byte]) return "byte " + std::to_string(byte) + " is wrong";
    }
    return "";
  }

 private:
  std::size_t at(std::int64_t i, std::int64_t j) const {
    const std::int64_t index =
        view_.order == Order::row_major ? i * view_.ld + j : j * view_.ld + i;
    return static_cast<std::size_t>(index * bytes_of(view_.type));
  }
  void make_zero_positive(unsigned char* element) const {
    const auto last = static_cast<std::size_t>(bytes_of(view_.type) - 1);
    if (element[last] != 0x80) return;
    for (std::size_t byte = 0; byte < last; ++byte) {
      if (element[byte] != 0) return;
    }
    element[last] = 0;
  }
  void put(std::int64_t i, std::int64_t j, double value) {
    unsigned char* const place = &bytes_[at(i, j)];
    const auto store = [&](auto element) { std::memcpy(place, &element, sizeof element); };
    switch (view_.type) {
      case ElementType::f64: return store(value);
      case ElementType::bf16: return store(bfloat16(static_cast<float>(value)));
      case ElementType::f16: return store(float16(static_cast<float>(value)));
      default: return store(static_cast<float>(value));
    }
  }

  std::int64_t first_row_, first_col_;
  OutputMatrix view_;
  std::vector<unsigned char> bytes_, before_;
  std::unique_ptr<cuda::DeviceArray<unsigned char>> memory_;
};

/// The part of a dimension that a rank has, which for n and k may differ between ranks.
std::pair<std::int64_t, std::int64_t> share(std::int64_t extent, int rank, int ranks) {
  const std::int64_t first = extent * rank / ranks;
  return {first, extent * (rank + 1) / ranks - first};
}

/// The rank's matrices of a case.
struct Operands {
  Operands(const Case& o, int rank)
      : rows_of_c(o.kind == Kind::reduce_scatter ? share(o.m, rank, o.ranks)
                                                 : std::pair{INT64_C(0), o.m}),
        cols_of_c(o.kind == Kind::all_gather ? share(o.n, rank, o.ranks)
                                             : std::pair{INT64_C(0), o.n}),
        inner(o.kind == Kind::all_gather ? std::pair{INT64_C(0), o.k} : share(o.k, rank, o.ranks)),
        rows_of_a(o.kind == Kind::all_gather ? share(o.m, rank, o.ranks)
                                             : std::pair{INT64_C(0), o.m}),
        a(o.in, rows_of_a.first, inner.first, rows_of_a.second, inner.second, o.a, o.padding, a_of),
        b(o.in, inner.first, cols_of_c.first, inner.second, cols_of_c.second, o.b, o.padding, b_of),
        c(o.out, rows_of_c.first, cols_of_c.first, rows_of_c.second, cols_of_c.second, o.c,
          o.padding, c_of) {}

  std::pair<std::int64_t, std::int64_t> rows_of_c, cols_of_c, inner, rows_of_a;
  Part a, b, c;
};

void call(TensorParallel& parallel, const Case& o, const Operands& operands, cuda::Stream stream) {
  const auto method = o.kind == Kind::all_gather       ? &TensorParallel::all_gather_gemm
                      : o.kind == Kind::reduce_scatter ? &TensorParallel::gemm_reduce_scatter
                                                       : &TensorParallel::gemm_all_reduce;
  (parallel.*method)(o.alpha, operands.a.input(), operands.b.input(), o.beta, operands.c.view(),
                     CudaStream(stream), {.schedule = o.schedule, .chunks = o.chunks});
}

class TensorParallelTest : public CudaLibrary {
 protected:
  void SetUp() override {
    CudaLibrary::SetUp();
    static const cuda::Driver driver = {.api = &vgpu::virtual_driver(), .takes_cubin = false};
    cuda::use_driver(&driver);
    static const Backend standin = {&vgpu::virtual_driver(), &standin_peers(), &standin_nccl()};
    use_backend(&standin);
    vgpu::set_launch_defaults({.observe = false});
  }
  void TearDown() override {
    set_patience(patience);
    vgpu::set_launch_defaults({});
    use_backend(nullptr);
    CudaLibrary::TearDown();
  }

  /// Runs the case on threads, and compares each rank's result.
  void run(const Case& o) {
    const auto errors = on_ranks(o.ranks, [&](int rank, Comm comm) {
      TensorParallel parallel(comm, {.timeout = 60, .transport = o.transport, .bandwidth = 300e9});
      Operands operands(o, rank);
      cuda::Stream stream = nullptr;
      vgpu::virtual_driver().cuStreamCreate(&stream, cuda::stream_non_blocking);
      for (int time = 0; time < o.calls; ++time) {
        operands.c.reset();
        call(parallel, o, operands, stream);
        parallel.synchronize(CudaStream(stream));
        const std::string wrong = operands.c.difference([&](std::int64_t i, std::int64_t j) {
          double sum = 0;
          for (std::int64_t p = 0; p < o.k; ++p) sum += a_of(i, p) * b_of(p, j);
          return o.alpha * sum + (o.beta == 0 ? 0 : o.beta * c_of(i, j));
        });
        if (!wrong.empty()) {
          throw std::runtime_error("call " + std::to_string(time) + ": " + wrong);
        }
      }
    });
    for (std::size_t rank = 0; rank < errors.size(); ++rank) {
      EXPECT_EQ(errors[rank], "") << o.text() << ", rank " << rank;
    }
  }
};

constexpr Kind kinds[] = {Kind::all_gather, Kind::reduce_scatter, Kind::all_reduce};
constexpr Transport transports[] = {Transport::nccl, Transport::copy_engine};

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
                               Schedule::exchanged),
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
          const std::string wrong = operands.c.difference([&](std::int64_t i, std::int64_t j) {
            double sum = 0;
            for (std::int64_t p = 0; p < o.k; ++p) sum += a_of(i, p) * b_of(p, j);
            return sum;
          });
          if (!wrong.empty()) throw std::runtime_error(wrong);
        }
      }
    });
    EXPECT_EQ(errors, std::vector<std::string>(2));
  }
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
    return take_counts().sent - with;  // of one more call, which does not agree again
  };
  EXPECT_EQ(bytes(Kind::all_gather), a);      // each half to the other rank
  EXPECT_EQ(bytes(Kind::reduce_scatter), c);  // half of the sums of each rank
  EXPECT_EQ(bytes(Kind::all_reduce), 2 * c);  // and back
}

TEST_F(TensorParallelTest, ReplaysAllGather) {
  // A graph of the virtual GPU runs at once, so both have to be there before the copies are replayed:
  // what is sent is an operand, which is.
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
    EXPECT_EQ(operands.c.difference([&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t p = 0; p < o.k; ++p) sum += a_of(i, p) * b_of(p, j);
      return sum;
    }),
              "");
  });
  EXPECT_EQ(errors, std::vector<std::string>(1));
}

// ---- faults ----

/// What each rank gets for arguments of its own.
template <class F>
std::vector<std::string> errors_of(int ranks, const F& f,
                                   TensorParallelOptions options = {.bandwidth = 300e9}) {
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
    call(parallel, o, operands, nullptr);  // it remains of use
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST_F(TensorParallelTest, Arguments) {
  const auto errors = errors_of(1, [](int, TensorParallel& parallel) {
    const auto text = [&](const InputMatrix& a, const InputMatrix& b, const OutputMatrix& c,
                          TensorParallelCall call = {}) {
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

/// A driver whose streams are never done.
cuda::Result not_ready(cuda::Stream) { return cuda::Result::not_ready; }

TEST_F(TensorParallelTest, WaitingEndsByTimeoutOrByNcclsError) {
  static cuda::DriverApi busy = vgpu::virtual_driver();
  static std::atomic<bool> is_busy = false;
  busy.cuStreamQuery = [](cuda::Stream stream) {
    return is_busy ? not_ready(stream) : vgpu::virtual_driver().cuStreamQuery(stream);
  };
  static const Backend standin = {&busy, &standin_peers(), &standin_nccl()};
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
