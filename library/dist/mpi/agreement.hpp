#pragma once
// Checks that ranks agree on a call before any data is sent.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "library/dist/mpi/transfers.hpp"

namespace rung::dist {

/// Values that must be equal on all ranks, by name.
class Agreement {
 public:
  void add(std::string name, std::int64_t value);
  void add(std::string name, double value);
  void add(const std::string& name, const Layout& layout);

  /// refused: the reason why this rank rejects its arguments, if it does. memory: bytes available
  /// on this rank for copies. Returns the minimum memory over all ranks. Throws on every rank if
  /// values differ or a rank rejects its arguments.
  std::int64_t reach(Transfers& transfers, MPI_Comm comm, const std::optional<std::string>& refused,
                     std::int64_t memory) const;

 private:
  void add(const std::string& name, const Axis& axis);

  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;
};

}  // namespace rung::dist
