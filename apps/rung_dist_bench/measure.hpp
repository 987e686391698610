#pragma once
// Times contenders on all ranks at once, in turn.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rank.hpp"

namespace rung::dist_bench {

struct Contender {
  std::string name;
  std::function<void(Rank&, int rank)> enqueue;
};

/// One thread for each GPU.
class Team {
 public:
  Team(const cuda::DriverApi& driver, int ranks, const std::vector<void*>& comms);

  int ranks() const { return static_cast<int>(members_.size()); }
  Rank& rank(int number) { return *members_.at(static_cast<std::size_t>(number)); }
  /// Runs f(rank) on a thread of each. Throws what the first of them throws.
  void on_each(const std::function<void(Rank&, int)>& f);

  /// Seconds of a call of each contender, of the slowest rank, in each of `rounds`: the mean of
  /// calls that follow each other for at least a few milliseconds. `differences`: the largest one of the
  /// results that the timed calls left (Rank::difference).
  std::map<std::string, std::vector<double>> time(const std::vector<Contender>& contenders,
                                                  int rounds,
                                                  std::map<std::string, double>& differences);

 private:
  const cuda::DriverApi& driver_;
  std::vector<std::unique_ptr<Rank>> members_;
};

}  // namespace rung::dist_bench
