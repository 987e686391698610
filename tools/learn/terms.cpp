#include "tools/learn/terms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tools/learn/trial.hpp"

namespace rung::learn {
namespace {

/// Thrown if a result is not the sum that it would be for a sum of products, or takes too many runs.
struct NotLinear : std::runtime_error {
  NotLinear() : std::runtime_error("the result is no sum of products") {}
};

enum class Operand { a, b };

/// Sums are exact up to this one, in f32.
constexpr double exact_sum = 1 << 24;

class Prober {
 public:
  Prober(const Code& code, const Size& size, std::size_t result)
      : trial_(code), size_(size), is_vector_(code.form.is_vector), result_(result) {
    const auto [m, n, k] = size;
    a_.assign(is_vector_ ? static_cast<std::size_t>(n) : product(m, k), 0);
    b_.assign(is_vector_ ? static_cast<std::size_t>(n) : product(n, k), 0);
    constexpr int most = 120;  // elements of a row
    row_ = static_cast<std::size_t>(std::min(is_vector_ ? n : k, is_vector_ ? most : 32));
    if (run() != 0) throw NotLinear();
  }

  /// How often the result takes each element of an operand; zeros included.
  std::vector<int> uses(Operand of) {
    std::vector<float>&own = of == Operand::a ? a_ : b_, &other = of == Operand::a ? b_ : a_;
    std::fill(other.begin(), other.end(), 1.0f);
    std::vector<int> all(own.size());
    // Rows first, because most are unused; then halves of those whose elements are not used alike.
    // Elements of a large group are taken to be used alike if its uses are a multiple of their number.
    constexpr int fewest_alike = 8;
    std::fill(own.begin(), own.end(), 1.0f);
    const double mean = run() / static_cast<double>(own.size());
    std::fill(own.begin(), own.end(), 0.0f);
    std::vector<std::vector<std::size_t>> groups = ranges(own.size(), row_);
    while (!groups.empty()) {
      const std::size_t longest = groups.front().size();
      const int usual = longest > 8 ? 4096 : longest > 1 ? 128 : 16;
      const std::vector<int> found = counts(own, groups, std::max(usual, above(mean, longest)));
      std::vector<std::vector<std::size_t>> halves;
      for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::vector<std::size_t>& elements = groups[group];
        const int length = static_cast<int>(elements.size());
        for (const std::size_t i : elements) all[i] = found[group] / length;
        const bool is_alike = found[group] % length == 0 && (length == 1 || length >= fewest_alike);
        if (is_alike || found[group] == 0) continue;
        const auto middle = elements.begin() + length / 2;
        halves.emplace_back(elements.begin(), middle);
        halves.emplace_back(middle, elements.end());
      }
      groups = std::move(halves);
    }
    std::fill(other.begin(), other.end(), 0.0f);
    return all;
  }

  /// The terms with an element of B, given the elements of A that the result takes.
  std::vector<Term> terms_with(int b, int uses, const std::vector<int>& of_a) {
    // Numbers up to 256 are exact in bf16.
    constexpr std::size_t most_elements = 256;
    if (of_a.size() > most_elements) throw NotLinear();
    b_[static_cast<std::size_t>(b)] = 1;
    std::vector<Term> terms;
    if (uses == 1) {
      for (std::size_t i = 0; i < of_a.size(); ++i) at(of_a[i]) = static_cast<float>(i + 1);
      const double which = run();
      if (which < 1 || which > static_cast<double>(of_a.size())) throw NotLinear();
      terms = {{of_a[static_cast<std::size_t>(which) - 1], b, 1}};
      for (const int i : of_a) at(i) = 0;
    } else {
      std::vector<std::vector<std::size_t>> single;
      for (const int i : of_a) single.push_back({static_cast<std::size_t>(i)});
      const std::vector<int> times = counts(a_, single, std::max(16, uses + 1));
      for (std::size_t i = 0; i < of_a.size(); ++i) {
        if (times[i] != 0) terms.push_back({of_a[i], b, times[i]});
      }
    }
    b_[static_cast<std::size_t>(b)] = 0;
    return terms;
  }

 private:
  static std::size_t product(int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
  }

  /// A number that a group's uses are less than, unless they are far above the mean, such as where
  /// all threads of a block add the same product.
  static int above(double mean, std::size_t length) {
    constexpr double margin = 4;
    const double uses = margin * mean * static_cast<double>(length);
    return static_cast<int>(std::min(uses + 1, exact_sum));
  }

  static std::vector<std::vector<std::size_t>> ranges(std::size_t size, std::size_t length) {
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < size; ++i) {
      if (i % length == 0) all.emplace_back();
      all.back().push_back(i);
    }
    return all;
  }

  float& at(int a) { return a_[static_cast<std::size_t>(a)]; }

  /// How often the result takes elements of each group, if fewer than `base` times: several groups
  /// at once, as the digits of a number.
  std::vector<int> counts(std::vector<float>& own,
                          const std::vector<std::vector<std::size_t>>& groups, int base) {
    std::vector<int> found(groups.size());
    for (std::size_t first = 0; first < groups.size();) {
      std::size_t end = first;
      for (double value = 1; end < groups.size() && value * base <= exact_sum; value *= base) {
        for (const std::size_t i : groups[end]) own[i] = static_cast<float>(value);
        ++end;
      }
      auto sum = static_cast<std::int64_t>(run());
      for (std::size_t group = first; group < end; ++group, sum /= base) {
        found[group] = static_cast<int>(sum % base);
        for (const std::size_t i : groups[group]) own[i] = 0;
      }
      if (sum != 0) throw NotLinear();
      first = end;
    }
    return found;
  }

  double run() {
    constexpr int most_runs = 2000;
    if (++runs_ > most_runs) throw NotLinear();
    const std::vector<float> results = trial_.probe(size_, {a_, b_, 0});
    const double sum = is_vector_ ? std::accumulate(results.begin(), results.end(), 0.0)
                                  : double{results.at(result_)};
    if (!(sum >= 0 && sum < exact_sum) || sum != std::floor(sum)) throw NotLinear();
    return sum;
  }

  Trial trial_;
  Size size_;
  bool is_vector_;
  std::size_t result_;
  std::size_t row_;
  int runs_ = 0;
  std::vector<float> a_, b_;
};

std::vector<Term> terms_of_vectors(Prober& prober) {
  const std::vector<int> of_x = prober.uses(Operand::a);
  if (prober.uses(Operand::b) != of_x) throw NotLinear();
  std::vector<Term> terms;
  for (std::size_t i = 0; i < of_x.size(); ++i) {
    const int index = static_cast<int>(i);
    if (of_x[i] != 0) terms.push_back({index, index, of_x[i]});
  }
  return terms;
}

std::vector<Term> terms_of_matrices(Prober& prober) {
  const std::vector<int> of_a = prober.uses(Operand::a), of_b = prober.uses(Operand::b);
  std::vector<int> used;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (of_a[i] != 0) used.push_back(static_cast<int>(i));
  }
  std::vector<Term> terms;
  for (std::size_t b = 0; b < of_b.size(); ++b) {
    if (of_b[b] == 0) continue;
    for (const Term& term : prober.terms_with(static_cast<int>(b), of_b[b], used)) {
      terms.push_back(term);
    }
  }
  return terms;
}

}  // namespace

std::optional<std::vector<Term>> terms_of(const Code& code, const Size& size, std::size_t result) {
  try {
    Prober prober(code, size, result);
    return code.form.is_vector ? terms_of_vectors(prober) : terms_of_matrices(prober);
  } catch (const NotLinear&) {
    return std::nullopt;
  }
}

}  // namespace rung::learn
