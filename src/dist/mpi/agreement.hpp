#pragma once
// Ranks agree on a call before anything of it is sent.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dist/mpi/transfers.hpp"

namespace rung::dist {

/// What has to be the same on all ranks, by name.
class Agreement {
 public:
  void add(std::string name, std::int64_t value);
  void add(std::string name, double value);
  void add(const std::string& name, const Layout& layout);

  /// refused: why this rank refuses its arguments. memory: bytes that this rank has for copies.
  /// Returns the least memory of all ranks. Throws on every rank if values differ or any rank
  /// refuses.
  std::int64_t reach(Transfers& transfers, MPI_Comm comm, const std::optional<std::string>& refused,
                     std::int64_t memory) const;

 private:
  void add(const std::string& name, const Axis& axis);

  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;
};

}  // namespace rung::dist
