// rung-mpi-bench, under mpirun: librung_dist against the library in one process with as many threads, and
// against ScaLAPACK, in turn.

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "core/shared_library/shared_library.hpp"
#include "environment.hpp"
#include "mpi_arguments.hpp"
#include "rung/dist.hpp"
#include "rung/rung.hpp"
#include "tools/measure/statistics.hpp"

namespace rung::dist_bench {
namespace {

/// Waits for all ranks and leaves the processors to those that still work.
void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) usleep(5000);
  }
}

/// Lets the calling thread, and those that it begins, run on every processor, until the end of the
/// scope: mpirun may have bound the rank to one.
class AllProcessors {
 public:
  AllProcessors() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t all;
    std::memset(&all, 0xFF, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
  }
  AllProcessors(const AllProcessors&) = delete;
  AllProcessors& operator=(const AllProcessors&) = delete;
  ~AllProcessors() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

/// The seconds of the slowest rank.
double time(const std::function<void()>& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  call();
  double seconds = MPI_Wtime() - begin, most = 0;
  meet();
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// The distribution's ScaLAPACK, on a grid of 1 x ranks.
class Scalapack {
 public:
  Scalapack(int n, int block, int ranks) : n_(n) {
    if (!library_) return;
    const int one = 1, none = 0;
    int info = 0;
    library_.find<void(int, int, int*)>("Cblacs_get")(0, 0, &context_);
    library_.find<void(int*, const char*, int, int)>("Cblacs_gridinit")(&context_, "Row", one,
                                                                        ranks);
    library_.find<void(int*, const int*, const int*, const int*, const int*, const int*, const int*,
                       const int*, const int*, int*)>("descinit_")(
        descriptor_, &n_, &n_, &block, &block, &none, &none, &context_, &n_, &info);
  }
  explicit operator bool() const { return static_cast<bool>(library_); }
  std::string path() const { return library_.path("pdgemm_"); }
  template <class T>
  void gemm(const T* a, const T* b, T* c) const {
    using Function = void(const char*, const char*, const int*, const int*, const int*, const T*,
                          const T*, const int*, const int*, const int*, const T*, const int*,
                          const int*, const int*, const T*, T*, const int*, const int*, const int*);
    const int one = 1;
    const T alpha = 1, beta = 0;
    library_.find<Function>(sizeof(T) == 8 ? "pdgemm_" : "psgemm_")(
        "N", "N", &n_, &n_, &n_, &alpha, a, &one, &one, descriptor_, b, &one, &one, descriptor_,
        &beta, c, &one, &one, descriptor_);
  }

 private:
  SharedLibrary library_{"RUNG_SCALAPACK", {"libscalapack-openmpi.so.2.2", "libscalapack.so.2.2"}};
  int n_;
  int context_ = 0;
  int descriptor_[9] = {};
};

template <class T>
void run(const Arguments& arguments) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t n = arguments.n;
  const dist::Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks);
  const dist::Layout layout = dist::block_cyclic(n, n, arguments.block, arguments.block, 1, ranks);
  const std::int64_t cols = dist::local_extent(layout.cols, rank);
  const auto filled = [](std::int64_t count, int seed) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<T>((i * 7 + static_cast<std::size_t>(seed)) % 11) / 8;
    }
    return values;
  };
  const std::vector<T> a = filled(n * cols, 1), b = filled(n * cols, 2);
  std::vector<T> c(a.size());
  const std::vector<T> whole_a = filled(rank == 0 ? n * n : 0, 1),
                       whole_b = filled(rank == 0 ? n * n : 0, 2);
  std::vector<T> whole_c(whole_a.size());
  dist::RankTraffic traffic;
  const auto spread = [&](auto& values) {
    using Element = std::remove_pointer_t<decltype(values.data())>;
    return dist::Matrix<Element>{layout, col_major(values.data(), n, cols)};
  };
  const auto distributed = [&] {
    dist::gemm(grid, T{1}, spread(a), spread(b), T{0}, spread(c),
               {.threads = 1, .traffic = &traffic});
  };
  const auto alone = [&] {
    if (rank == 0) {
      const AllProcessors all;
      gemm(T{1}, col_major(whole_a.data(), n, n), col_major(whole_b.data(), n, n), T{0},
           col_major(whole_c.data(), n, n), {.threads = ranks});
    }
  };
  const Scalapack scalapack(static_cast<int>(n), arguments.block, ranks);
  std::vector<double> of_dist, of_one, of_scalapack;
  for (int round = 0; round <= arguments.rounds; ++round) {  // the first warms up
    const auto timed = [&](std::vector<double>& seconds, const std::function<void()>& call) {
      const double of_slowest = time(call);
      if (round != 0) seconds.push_back(of_slowest);
    };
    timed(of_dist, distributed);
    timed(of_one, alone);
    if (scalapack) timed(of_scalapack, [&] { scalapack.gemm(a.data(), b.data(), c.data()); });
  }
  const dist::Problem problem = {layout,    layout, layout, static_cast<int>(sizeof(T)),
                                 sizeof(T), ranks};
  const std::int64_t least = least_for_layout(make_plan(problem, {}, {1, ranks, 1}), rank);
  if (rank != 0) return;
  Json json = {{"environment", environment()},
               {"operation", "gemm"},
               {"dtype", arguments.dtype},
               {"n", n},
               {"ranks", ranks},
               {"block", arguments.block},
               {"seconds",
                {{"librung_dist", to_json(summarize(of_dist))},
                 {"one process", to_json(summarize(of_one))}}},
               {"over_one_process", median_ratio(of_dist, of_one)},
               {"bytes_sent", traffic.total().sent},
               {"least_bytes_sent", least}};
  if (scalapack) {
    json["scalapack"] = scalapack.path();
    json["seconds"]["ScaLAPACK"] = to_json(summarize(of_scalapack));
    json["over_scalapack"] = median_ratio(of_dist, of_scalapack);
  }
  const auto against = [&](const std::vector<double>& other) {
    return fmt::format("{:.3f} s ({:.3f})", summarize(other).median, median_ratio(of_dist, other));
  };
  fmt::print(
      "{}, n = {}, {} ranks: librung_dist {:.3f} s, one process {}, ScaLAPACK {}; sent {} bytes, "
      "least {}\n",
      arguments.dtype, n, ranks, summarize(of_dist).median, against(of_one),
      scalapack ? against(of_scalapack) : "-", traffic.total().sent, least);
  write(json, arguments.json);
}

}  // namespace
}  // namespace rung::dist_bench

int main(int argc, char** argv) {
  setenv("OPENBLAS_NUM_THREADS", "1", 0);  // ScaLAPACK's ranks have one thread each, too
  MPI_Init(&argc, &argv);
  rung::dist_bench::Arguments arguments;
  const CLI::Range positive(1, std::numeric_limits<int>::max());
  CLI::App app("Times librung_dist under mpirun, in turn with one process and with ScaLAPACK.");
  app.add_option("--n", arguments.n, "Rows and columns")->check(positive)->capture_default_str();
  app.add_option("--block", arguments.block, "Blocks of the layout")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--dtype", arguments.dtype, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Rounds of all contenders")
      ->check(positive)
      ->capture_default_str();
  app.add_flag("--gpus", arguments.on_gpus,
               "Matrices in GPU memory, in turn with one GPU alone; no ScaLAPACK");
  app.add_option("--json", arguments.json, "Write JSON to FILE")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  try {
    rung::dist_bench::require_writable(arguments.json);
    if (arguments.on_gpus) {
      rung::dist_bench::run_on_gpus(arguments);
    } else if (arguments.dtype == "f64") {
      rung::dist_bench::run<double>(arguments);
    } else {
      rung::dist_bench::run<float>(arguments);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "rung-mpi-bench: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
