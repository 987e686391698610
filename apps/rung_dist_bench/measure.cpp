#include "measure.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>

#include "core/cuda_driver/error.hpp"

namespace rung::dist_bench {

Team::Team(const cuda::DriverApi& driver, int ranks, const std::vector<void*>& comms)
    : driver_(driver), members_(static_cast<std::size_t>(ranks)) {
  for (int number = 0; number < ranks; ++number) {
    const auto at = static_cast<std::size_t>(number);
    members_[at] = std::make_unique<Rank>(driver, number, ranks, comms.at(at));
  }
}

void Team::on_each(const std::function<void(Rank&, int)>& f) {
  std::vector<std::exception_ptr> errors(members_.size());
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks(); ++number) {
    threads.emplace_back([&, number] {
      try {
        rank(number).enter();
        f(rank(number), number);
      } catch (...) {
        errors[static_cast<std::size_t>(number)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

std::map<std::string, std::vector<double>> Team::time(const std::vector<Contender>& contenders,
                                                      int rounds,
                                                      std::map<std::string, double>& differences) {
  constexpr double round_seconds = 4e-3;
  constexpr int most_calls = 60;
  std::map<std::string, std::vector<double>> seconds;
  std::map<std::string, int> calls;
  std::barrier together(ranks());
  std::vector<double> mine(members_.size()), off(members_.size());
  // A first round warms up, and says how many calls the others make.
  for (int round = 0; round <= rounds; ++round) {
    for (const Contender& contender : contenders) {
      const int count = round == 0 ? 3 : calls[contender.name];
      on_each([&](Rank& rank, int number) {
        rank.poison();
        contender.enqueue(rank, number);
        rank.synchronize();
        together.arrive_and_wait();
        contender.enqueue(rank, number);  // while it runs, the host gets ahead
        const cuda::Event begin = rank.record();
        for (int call = 0; call < count; ++call) contender.enqueue(rank, number);
        const cuda::Event end = rank.record();
        rank.synchronize();
        float milliseconds = 0;
        check(driver_, driver_.cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
        driver_.cuEventDestroy(begin);
        driver_.cuEventDestroy(end);
        mine[static_cast<std::size_t>(number)] = milliseconds * 1e-3 / count;
        off[static_cast<std::size_t>(number)] = rank.difference();
      });
      double& worst = differences[contender.name];
      worst = std::max(worst, *std::max_element(off.begin(), off.end()));
      const double slowest = *std::max_element(mine.begin(), mine.end());
      if (round > 0) seconds[contender.name].push_back(slowest);
      calls[contender.name] = std::clamp(static_cast<int>(round_seconds / slowest), 2, most_calls);
    }
  }
  return seconds;
}

}  // namespace rung::dist_bench
