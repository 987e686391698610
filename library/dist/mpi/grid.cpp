#include "library/dist/mpi/grid.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "library/dist/mpi/transfers.hpp"
#include "rung/threads.hpp"

namespace rung::dist {
namespace {

bool is_running() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

void wait(MPI_Request& request, double timeout, const char* what) {
  const double begin = MPI_Wtime();
  for (int done = 0; done == 0;) {
    require(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done == 0 && MPI_Wtime() - begin > timeout) {
      throw CommunicationError(std::string(what) + ": not all ranks answered within the timeout");
    }
  }
}

int count_here(MPI_Comm comm) {
  MPI_Comm here = MPI_COMM_NULL;
  require(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
          "MPI_Comm_split_type");
  int count = 1;
  MPI_Comm_size(here, &count);
  MPI_Comm_free(&here);
  return count;
}

}  // namespace

Grid::State::State(MPI_Comm parent, int grid_rows, int grid_cols, double timeout)
    : rows(grid_rows), cols(grid_cols) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Comm_idup(parent, &comm, &request), "MPI_Comm_idup");
  wait(request, timeout, "a grid");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  std::array<int, 4> mine = {rows, -rows, cols, -cols}, most = {};
  require(MPI_Iallreduce(mine.data(), most.data(), 4, MPI_INT, MPI_MAX, comm, &request),
          "MPI_Iallreduce");
  wait(request, timeout, "a grid");
  const std::string text = std::to_string(rows) + " x " + std::to_string(cols);
  if (most[0] != -most[1] || most[2] != -most[3]) {
    MPI_Comm_free(&comm);
    throw Error(Status::invalid_argument, "ranks disagree on the grid; this one has " + text);
  }
  if (rows < 1 || cols < 1 || std::int64_t{rows} * cols > ranks) {
    MPI_Comm_free(&comm);
    throw Error(Status::invalid_argument,
                "a grid of " + text + " does not fit on " + std::to_string(ranks) + " ranks");
  }
  ranks_here = count_here(comm);
}

Grid::State::~State() {
  if (comm == MPI_COMM_NULL || !is_running()) return;
  if (failed) return;  // MPI_Comm_free would wait for the failed rank
  MPI_Comm_free(&comm);
}

Grid::Grid(int comm, int rows, int cols, double timeout)
    : state_(std::make_unique<State>(MPI_Comm_f2c(comm), rows, cols, timeout)) {}
Grid::~Grid() = default;
Grid::Grid(Grid&&) noexcept = default;
Grid& Grid::operator=(Grid&&) noexcept = default;

int Grid::rows() const { return state_->rows; }
int Grid::cols() const { return state_->cols; }
int Grid::rank() const { return state_->rank; }

int Grid::row() const {
  return state_->rank < state_->rows * state_->cols ? state_->rank / state_->cols : -1;
}

int Grid::col() const {
  return state_->rank < state_->rows * state_->cols ? state_->rank % state_->cols : -1;
}

std::int64_t memory_share(int ranks_here) {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("MemAvailable:")) {
      return std::stoll(line.substr(line.find(':') + 1)) * 1024 / 2 / ranks_here;
    }
  }
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages * page / 4 / ranks_here;
}

int threads_of(const Options& options, int ranks_here) {
  if (options.threads != 0) return options.threads;
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  const int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : online;
  const int share = mine < online ? mine : std::max(1, mine / ranks_here);
  return std::min(share, get_num_threads());
}

}  // namespace rung::dist
