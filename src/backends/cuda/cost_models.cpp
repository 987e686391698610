#include "backends/cuda/cost_models.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace rung::cuda {
namespace {

/// Reads lines one after another; those of tiles belong to the model before them.
class Reader {
 public:
  CostModels read(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream words(line);
      std::string kind, more;
      words >> kind;
      const bool is_right = take(kind, words);
      if (!is_right || words.fail() || words >> more) throw bad_line(line);
    }
    return std::move(models_);
  }

 private:
  bool take(const std::string& kind, std::istream& words) {
    if (kind == "launch") return take_launch(words);
    if (kind == "waves") return take_waves(words);
    if (kind != "tile") return false;
    if (in_waves_) return take_wave_tile(words);
    return !models_.blocks.empty() && take_block_tile(words);
  }

  bool take_launch(std::istream& words) {
    in_waves_ = false;
    BlockModel& model = models_.blocks.emplace_back();
    std::string dtype;
    words >> model.rung >> dtype >> model.launch >> model.memory >> model.l2 >> model.meeting >>
        model.part >> model.exchange >> model.copy >> model.packing;
    const auto known = parse_dtype(dtype);
    model.dtype = known.value_or(Dtype::f32);
    if (words.fail()) return false;
    words >> model.excess;
    if (words.fail() && words.eof()) {  // without it, as in older files
      words.clear();
      model.excess = 0;
    }
    const std::array rates = {model.memory, model.l2, model.exchange, model.packing};
    return known && std::all_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
  }

  bool take_block_tile(std::istream& words) {
    BlockTimes& times = models_.blocks.back().tiles.emplace_back();
    words >> times.resident >> times.latency >> times.throughput >> times.overhead >>
        times.slower[0] >> times.slower[1] >> times.slower[2];
    return times.resident > 0;
  }

  bool take_waves(std::istream& words) {
    in_waves_ = true;
    WaveModel& model = models_.waves.emplace_back();
    words >> model.rung >> model.idle_share >> model.meeting >> model.part >> model.shared_byte >>
        model.byte >> model.odd_byte >> model.odd_result;
    return model.byte > 0 && model.odd_byte >= 0 && model.odd_result >= 0;
  }

  bool take_wave_tile(std::istream& words) {
    WaveTimes& times = models_.waves.back().tiles.emplace_back();
    words >> times.BM >> times.BN >> times.cluster >> times.step >> times.tile;
    return times.BM > 0 && times.BN > 0 && times.cluster > 0;
  }

  static std::runtime_error bad_line(const std::string& line) {
    return std::runtime_error("'" + line +
                              "' is not a line of a cost model, as rung tune --quick writes it");
  }

  CostModels models_;
  bool in_waves_ = false;
};

template <class Models, class Is>
auto find_model(const Models& models, const Is& is) {
  const auto found = std::find_if(models.begin(), models.end(), is);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

const BlockModel* CostModels::block_model(std::string_view rung, Dtype dtype) const {
  return find_model(
      blocks, [&](const BlockModel& model) { return model.dtype == dtype && model.rung == rung; });
}

const WaveModel* CostModels::wave_model(std::string_view rung) const {
  return find_model(waves, [&](const WaveModel& model) { return model.rung == rung; });
}

CostModels parse_cost_models(std::string_view text) { return Reader().read(text); }

std::string format_model(const BlockModel& model) {
  std::ostringstream lines;
  lines << "launch " << model.rung << ' ' << name(model.dtype) << ' ' << model.launch << ' '
        << model.memory << ' ' << model.l2 << ' ' << model.meeting << ' ' << model.part << ' '
        << model.exchange << ' ' << model.copy << ' ' << model.packing << ' ' << model.excess
        << '\n';
  for (const BlockTimes& times : model.tiles) {
    lines << "tile " << times.resident << ' ' << times.latency << ' ' << times.throughput << ' '
          << times.overhead;
    for (const double factor : times.slower) lines << ' ' << factor;
    lines << '\n';
  }
  return std::move(lines).str();
}

std::string format_model(const WaveModel& model) {
  std::ostringstream lines;
  lines << "waves " << model.rung << ' ' << model.idle_share << ' ' << model.meeting << ' '
        << model.part << ' ' << model.shared_byte << ' ' << model.byte << ' ' << model.odd_byte
        << ' ' << model.odd_result << '\n';
  for (const WaveTimes& times : model.tiles) {
    lines << "tile " << times.BM << ' ' << times.BN << ' ' << times.cluster << ' ' << times.step
          << ' ' << times.tile << '\n';
  }
  return std::move(lines).str();
}

}  // namespace rung::cuda
