#include "library/dist/mpi/agreement.hpp"

#include <bit>
#include <utility>

namespace rung::dist {

void Agreement::add(std::string name, std::int64_t value) {
  names_.push_back(std::move(name));
  values_.push_back(value);
}

void Agreement::add(std::string name, double value) {
  add(std::move(name), std::bit_cast<std::int64_t>(value));
}

void Agreement::add(const std::string& name, const Axis& axis) {
  add(name + ".extent", axis.extent);
  add(name + ".block", axis.block);
  add(name + ".procs", std::int64_t{axis.procs});
  add(name + ".source", std::int64_t{axis.source});
  add(name + ".skipped", axis.skipped);
}

void Agreement::add(const std::string& name, const Layout& layout) {
  add(name + ".rows", layout.rows);
  add(name + ".cols", layout.cols);
  add(name + ".transposed", std::int64_t{layout.transposed});
}

std::int64_t Agreement::reach(Transfers& transfers, MPI_Comm comm,
                              const std::optional<std::string>& refused,
                              std::int64_t memory) const {
  // The maximum of the complement is the complement of the minimum.
  std::vector<std::int64_t> mine;
  for (const std::int64_t value : values_) {
    mine.push_back(value);
    mine.push_back(~value);
  }
  mine.push_back(refused ? transfers.rank() : -1);
  mine.push_back(~memory);

  const int count = static_cast<int>(mine.size());
  const auto bytes = static_cast<std::int64_t>(mine.size() * sizeof(std::int64_t));
  auto* sent = reinterpret_cast<std::int64_t*>(transfers.allocate(bytes));
  auto* most = reinterpret_cast<std::int64_t*>(transfers.allocate(bytes));
  std::copy(mine.begin(), mine.end(), sent);
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Iallreduce(sent, most, count, MPI_INT64_T, MPI_MAX, comm, &request),
          "MPI_Iallreduce");
  transfers.wait([&] {
    int done = 0;
    require(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "the agreement on arguments failed");
    return done != 0;
  });
  transfers.finish();  // no message is in flight: the grid remains usable after an error

  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (most[2 * i] == ~most[2 * i + 1]) continue;
    throw Error(Status::invalid_argument, "ranks disagree on " + names_[i] + "; on rank " +
                                              std::to_string(transfers.rank()) + " it is " +
                                              std::to_string(values_[i]));
  }
  if (refused) throw Error(Status::invalid_argument, *refused);
  if (const std::int64_t rank = most[count - 2]; rank >= 0) {
    throw Error(Status::invalid_argument,
                "rank " + std::to_string(rank) + " refused its arguments; its own error says why");
  }
  transfers.begin();
  return ~most[count - 1];
}

}  // namespace rung::dist
