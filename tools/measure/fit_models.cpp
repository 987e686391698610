#include "tools/measure/fit_models.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "backends/rungs/cuda.hpp"

namespace rung {
namespace {

using Factors = std::vector<double>;  // logarithms

constexpr std::size_t block_groups = 4;
constexpr std::size_t wave_groups = 2;

std::size_t groups_of(const cuda::BlockModel& model) { return block_groups + model.tiles.size(); }
std::size_t groups_of(const cuda::WaveModel& model) { return wave_groups + model.tiles.size(); }

cuda::BlockModel scaled(cuda::BlockModel model, const Factors& logs) {
  const auto factor = [&](std::size_t group) { return std::exp(logs[group]); };
  model.launch *= factor(0);
  model.memory /= factor(1);
  model.packing /= factor(1);
  model.l2 /= factor(2);
  model.meeting *= factor(3);
  model.part *= factor(3);
  model.exchange /= factor(3);
  for (std::size_t i = 0; i < model.tiles.size(); ++i) {
    cuda::BlockTimes& times = model.tiles[i];
    for (double* time : {&times.latency, &times.throughput, &times.overhead})
      *time *= factor(block_groups + i);
  }
  return model;
}

cuda::WaveModel scaled(cuda::WaveModel model, const Factors& logs) {
  const auto factor = [&](std::size_t group) { return std::exp(logs[group]); };
  for (double* time : {&model.meeting, &model.part, &model.shared_byte}) *time *= factor(0);
  model.byte *= factor(1);
  model.odd_byte *= factor(1);
  model.odd_result *= factor(1);
  for (std::size_t i = 0; i < model.tiles.size(); ++i) {
    model.tiles[i].step *= factor(wave_groups + i);
    model.tiles[i].tile *= factor(wave_groups + i);
  }
  return model;
}

double expected(const cuda::BlockModel& model, const MeasuredPlan& plan,
                const cuda::Limits& limits) {
  return cuda::predicted_microseconds(model, *cuda::find_gemm_rung(model.rung), plan.size,
                                      plan.copies, plan.config, limits);
}

double expected(const cuda::WaveModel& model, const MeasuredPlan& plan,
                const cuda::Limits& limits) {
  constexpr double launch = 2.3;  // not part of the model, because it is the same for all plans
  return launch + cuda::predicted_microseconds(model, *cuda::find_gemm_rung(model.rung), plan.dtype,
                                               plan.size, plan.config, limits, plan.odd_rows);
}

/// The shortest time of each shape.
std::map<std::size_t, double> fastest_of(const std::vector<MeasuredPlan>& plans) {
  std::map<std::size_t, double> fastest;
  for (const MeasuredPlan& plan : plans) {
    const auto [entry, is_new] = fastest.try_emplace(plan.shape, plan.seconds);
    if (!is_new) entry->second = std::min(entry->second, plan.seconds);
  }
  return fastest;
}

template <class Model>
double regret(const Model& model, const std::vector<MeasuredPlan>& plans,
              const cuda::Limits& limits) {
  struct Choice {
    double expected, measured;
  };
  std::map<std::size_t, Choice> choices;
  for (const MeasuredPlan& plan : plans) {
    const Choice choice = {expected(model, plan, limits), plan.seconds};
    const auto [entry, is_new] = choices.try_emplace(plan.shape, choice);
    if (!is_new && choice.expected < entry->second.expected) entry->second = choice;
  }
  const auto fastest = fastest_of(plans);
  double logs = 0;
  for (const auto& [shape, choice] : choices) logs += std::log(choice.measured / fastest.at(shape));
  return choices.empty() ? 1 : std::exp(logs / static_cast<double>(choices.size()));
}

/// A robust loss: quadratic for small errors, linear for large ones.
double loss_of(double error) {
  constexpr double scale = 0.1;
  return 2 * (std::sqrt(1 + error * error / (scale * scale)) - 1);
}

template <class Model>
double loss(const Model& model, const std::vector<MeasuredPlan>& plans,
            const std::map<std::size_t, double>& fastest, const cuda::Limits& limits) {
  double sum = 0;
  for (const MeasuredPlan& plan : plans) {
    const double time = expected(model, plan, limits);
    if (!std::isfinite(time)) continue;
    // Plans far from the best need no accurate prediction.
    const double weight = 1 / std::min(plan.seconds / fastest.at(plan.shape), 4.0);
    sum += loss_of(weight * std::log(time * 1e-6 / plan.seconds));
  }
  return sum;
}

Factors pattern_search(Factors at, const std::function<double(const Factors&)>& loss) {
  double here = loss(at);
  for (double step = 0.4; step > 0.004; step /= 2) {
    for (bool moved = true; moved;) {
      moved = false;
      for (double& factor : at) {
        for (const double change : {step, -step}) {
          factor += change;
          const double there = loss(at);
          if (there < here) {
            here = there;
            moved = true;
            break;
          }
          factor -= change;
        }
      }
    }
  }
  return at;
}

template <class Model>
Model fit(const Model& start, const std::vector<MeasuredPlan>& plans, const cuda::Limits& limits) {
  constexpr double pull = 0.2;
  const auto fastest = fastest_of(plans);
  const Factors best = pattern_search(Factors(groups_of(start), 0.0), [&](const Factors& factors) {
    double sum = loss(scaled(start, factors), plans, fastest, limits);
    for (const double factor : factors) sum += pull * factor * factor;
    return sum;
  });
  return scaled(start, best);
}

}  // namespace

double regret_of(const cuda::BlockModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits) {
  return regret(model, plans, limits);
}

double regret_of(const cuda::WaveModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits) {
  return regret(model, plans, limits);
}

cuda::BlockModel fitted(const cuda::BlockModel& start, const std::vector<MeasuredPlan>& plans,
                        const cuda::Limits& limits) {
  return fit(start, plans, limits);
}

cuda::WaveModel fitted(const cuda::WaveModel& start, const std::vector<MeasuredPlan>& plans,
                       const cuda::Limits& limits) {
  return fit(start, plans, limits);
}

}  // namespace rung
