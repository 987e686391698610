// The cause of a wrong sum, from the products that the kernel adds up in it.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "tools/layout/uses.hpp"
#include "tools/learn/cause.hpp"
#include "tools/learn/terms.hpp"

namespace rung::learn {
namespace {

using Terms = std::vector<Term>;

/// An element of a matrix.
struct At {
  int row, column;
};

/// The terms of an element of C, and those that it should have.
class Sum {
 public:
  Sum(const Failure& failure, Terms terms)
      : size_(failure.size),
        is_b_transposed_(failure.code.form.is_b_transposed()),
        terms_(std::move(terms)) {
    const auto index = static_cast<int>(failure.run.error->index);
    row_ = index / size_.n;
    column_ = index % size_.n;
    for (int i = 0; i < size_.k; ++i)
      expected_.push_back({row_ * size_.k + i, index_of_b(i, column_), 1});
    for (const Term& term : terms_) {
      const bool is_expected = std::ranges::any_of(
          expected_, [&](const Term& known) { return known.a == term.a && known.b == term.b; });
      if (!is_expected) extra_.push_back(term);
      if (is_expected && term.times > 1) repeated_.push_back(term);
    }
    for (const Term& term : expected_) {
      const bool is_there = std::ranges::any_of(
          terms_, [&](const Term& known) { return known.a == term.a && known.b == term.b; });
      if (!is_there) missing_.push_back(step_of_b(term.b));
    }
  }

  std::optional<Cause> cause() const {
    if (terms_.empty()) {
      return Cause{"wrong/nothing", fmt::format("{} adds up no products at all", name())};
    }
    if (extra_.empty() && missing_.empty() && repeated_.empty()) return std::nullopt;
    if (extra_.empty()) return subset();
    if (missing_.empty()) return beyond_edge();
    for (const auto find : {&Sum::tile_stays, &Sum::other_element, &Sum::other_index}) {
      if (auto found = (this->*find)()) return found;
    }
    return Cause{"wrong/terms", first_difference()};
  }

 private:
  int index_of_b(int step, int column) const {
    return is_b_transposed_ ? column * size_.k + step : step * size_.n + column;
  }
  int step_of_b(int b) const { return is_b_transposed_ ? b % size_.k : b / size_.n; }
  int column_of_b(int b) const { return is_b_transposed_ ? b / size_.k : b % size_.n; }
  At at_a(int a) const { return {a / size_.k, a % size_.k}; }

  std::string name() const { return fmt::format("C[{}][{}]", row_, column_); }
  std::string name_of_a(int a) const {
    return fmt::format("A[{}][{}]", at_a(a).row, at_a(a).column);
  }
  std::string name_of_b(int b) const {
    return is_b_transposed_ ? fmt::format("B[{}][{}]", column_of_b(b), step_of_b(b))
                            : fmt::format("B[{}][{}]", step_of_b(b), column_of_b(b));
  }
  std::string product(const Term& term) const {
    return fmt::format("{} {}", name_of_a(term.a), name_of_b(term.b));
  }

  /// The first product that differs from the expected one.
  std::string first_difference() const {
    const Term& first = extra_.front();
    std::string text = fmt::format("{} adds {}", name(), product(first));
    for (const Term& term : expected_) {
      const bool is_missing = std::ranges::find(missing_, step_of_b(term.b)) != missing_.end();
      if (!is_missing || (term.a != first.a && term.b != first.b)) continue;
      return text + fmt::format(", where {} belongs", product(term));
    }
    return text + fmt::format("; its first product is {}", product(expected_.front()));
  }

  /// Some of the products, or some several times, but no others.
  std::optional<Cause> subset() const {
    if (!repeated_.empty()) {
      const Term& first = repeated_.front();
      if (missing_.empty()) {
        return Cause{"wrong/repeated", fmt::format("{} adds {} {} times instead of once", name(),
                                                   product(first), first.times)};
      }
      const bool is_first_tile = at_a(first.a).column == 0;
      return Cause{is_first_tile ? "wrong/both_stay" : "wrong/tile_again",
                   fmt::format("{} adds {} {} times, and none of the products from k = {} on",
                               name(), product(first), first.times, missing_.front())};
    }
    const bool is_end = missing_.back() == size_.k - 1;
    const bool is_range =
        missing_.back() - missing_.front() + 1 == static_cast<int>(missing_.size());
    if (is_range && is_end) {
      return Cause{"wrong/ends_early", fmt::format("{} lacks the products from k = {} on; k is {}",
                                                   name(), missing_.front(), size_.k)};
    }
    if (is_range && missing_.front() == 0) {
      return Cause{"wrong/only_last",
                   fmt::format("{} has only the products from k = {} on: those before are lost",
                               name(), missing_.back() + 1)};
    }
    return Cause{"wrong/some_missing",
                 fmt::format("{} lacks {} of {} products: the first is that of k = {}", name(),
                             missing_.size(), size_.k, missing_.front())};
  }

  std::optional<Cause> beyond_edge() const {
    return Cause{"wrong/beyond_edge", fmt::format("{} has all of its products, and in addition {}",
                                                  name(), product(extra_.front()))};
  }

  /// True for the steps of a tile that begins at 0.
  static bool is_first_tile(const std::set<int>& steps) {
    return *steps.begin() == 0 && *steps.rbegin() + 1 == static_cast<int>(steps.size());
  }

  /// One operand is always taken from the first tile.
  std::optional<Cause> tile_stays() const {
    const auto is_own = [&](const Term& term) {
      return at_a(term.a).row == row_ && column_of_b(term.b) == column_;
    };
    if (!std::ranges::all_of(terms_, is_own)) return std::nullopt;
    std::set<int> steps_of_a, steps_of_b;
    for (const Term& term : terms_) {
      steps_of_a.insert(at_a(term.a).column);
      steps_of_b.insert(step_of_b(term.b));
    }
    const auto first = std::ranges::find_if(
        terms_, [&](const Term& term) { return at_a(term.a).column != step_of_b(term.b); });
    if (first == terms_.end()) return std::nullopt;
    if (steps_of_a.size() < steps_of_b.size() && is_first_tile(steps_of_a)) {
      return Cause{
          "wrong/a_stays",
          fmt::format("{} multiplies {} by {}: the index of A stays in the first tile while "
                      "that of B moves on with k0",
                      name(), name_of_b(first->b), name_of_a(first->a))};
    }
    if (steps_of_b.size() < steps_of_a.size() && is_first_tile(steps_of_b)) {
      return Cause{
          "wrong/b_stays",
          fmt::format("{} multiplies {} by {}: the index of B stays in the first tile while "
                      "that of A moves on with k0",
                      name(), name_of_a(first->a), name_of_b(first->b))};
    }
    return Cause{"wrong/steps", first_difference()};
  }

  /// All products are those of another element of C.
  std::optional<Cause> other_element() const {
    const int row = at_a(terms_.front().a).row, column = column_of_b(terms_.front().b);
    int step = 0;
    for (const Term& term : terms_) {
      const At of_a = at_a(term.a);
      if (of_a.row != row || column_of_b(term.b) != column) return std::nullopt;
      if (of_a.column != step_of_b(term.b) || of_a.column != step++) return std::nullopt;
    }
    const std::string text = fmt::format("{} holds what belongs to C[{}][{}]", name(), row, column);
    const int own = row_ * size_.n + column_;
    if (row == column_ && column == row_) return Cause{"wrong/transposed_c", text};
    for (const auto& [length, extent] : {std::pair{size_.m, "m"}, {size_.k, "k"}}) {
      if (length != size_.n && row * length + column == own) {
        return Cause{"wrong/length_c",
                     text + fmt::format(": rows of C have n elements, not {}", extent)};
      }
    }
    if (row == row_) return Cause{"wrong/other_column", text};
    if (column == column_) return Cause{"wrong/other_row", text};
    return Cause{"wrong/other_element", text};
  }

  /// True if each term's index is `index(step)`, where the other operand tells the step.
  template <class F>
  bool all_of_a(const F& index) const {
    return std::ranges::all_of(
        terms_, [&](const Term& term) { return term.a == index(step_of_b(term.b)); });
  }
  template <class F>
  bool all_of_b(const F& index) const {
    return std::ranges::all_of(
        terms_, [&](const Term& term) { return term.b == index(at_a(term.a).column); });
  }

  /// One operand's index is computed with another row length, or with row and column exchanged.
  std::optional<Cause> other_index() const {
    const auto [m, n, k] = size_;
    const bool is_row_right =
        std::ranges::all_of(terms_, [&](const Term& term) { return at_a(term.a).row == row_; });
    for (const auto& [length, extent] : {std::pair{m, "m"}, {n, "n"}, {k, "k"}}) {
      if (all_of_a([&, l = length](int i) { return i * l + row_; })) {
        return Cause{"wrong/transposed_a", first_difference()};
      }
      if (length != k && all_of_a([&, l = length](int i) { return row_ * l + i; })) {
        return Cause{
            "wrong/length_a",
            first_difference() + fmt::format(": rows of A have k elements, not {}", extent)};
      }
      if (!is_row_right || is_b_transposed_) continue;
      if (all_of_b([&, l = length](int i) { return column_ * l + i; })) {
        return Cause{"wrong/transposed_b", first_difference()};
      }
      if (length != n && all_of_b([&, l = length](int i) { return i * l + column_; })) {
        return Cause{
            "wrong/length_b",
            first_difference() + fmt::format(": rows of B have n elements, not {}", extent)};
      }
    }
    const bool is_column_right = std::ranges::all_of(
        terms_, [&](const Term& term) { return column_of_b(term.b) == column_; });
    if (is_column_right && !is_row_right) return Cause{"wrong/index_a", first_difference()};
    if (is_row_right && !is_column_right) return Cause{"wrong/index_b", first_difference()};
    return std::nullopt;
  }

  Size size_;
  bool is_b_transposed_;
  int row_ = 0, column_ = 0;
  Terms terms_, expected_, extra_, repeated_;
  std::vector<int> missing_;  // steps
};

/// "0 to 31, 64 to 95 and more".
std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  int ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (++ranges > 3) return text + " and more";
    text +=
        (text.empty() ? "" : ", ") + (end == i ? fmt::format("{}", numbers[i])
                                               : fmt::format("{} to {}", numbers[i], numbers[end]));
    i = end + 1;
  }
  return text;
}

std::optional<Cause> cause_of_vectors(const Failure& failure, const Terms& terms) {
  const int n = failure.size.n;
  if (terms.empty()) return Cause{"wrong/nothing", "no product is added up at all"};
  std::map<int, int> times;
  for (const Term& term : terms) times[term.a] = term.times;
  std::vector<int> missing, repeated;
  for (int i = 0; i < n; ++i) {
    if (!times.contains(i)) missing.push_back(i);
    if (times.contains(i) && times[i] > 1) repeated.push_back(i);
  }
  const std::string lost =
      fmt::format("{} of {} products are not added: {}", missing.size(), n, ranges_text(missing));
  if (!repeated.empty()) {
    const std::string often =
        fmt::format("products are added several times, that of element {} {} times",
                    repeated.front(), times[repeated.front()]);
    return Cause{"wrong/repeated", missing.empty() ? often : often + "; " + lost};
  }
  if (missing.empty()) return std::nullopt;
  const bool is_range = missing.back() - missing.front() + 1 == static_cast<int>(missing.size());
  if (is_range && missing.back() == n - 1) return Cause{"wrong/ends_early", lost};
  if (is_range && missing.front() == 0) return Cause{"wrong/only_last", lost};
  return Cause{"wrong/some_missing", lost};
}

/// The matrix descriptor that does not fit the box that TMA copied, if there is one.
std::optional<Cause> wrong_descriptor(const Failure& failure) {
  Trial trial(failure.code);
  layout::UseRecorder recorder;
  (void)trial.run(failure.size);
  for (const layout::UsedTile& tile : layout::used_tiles(recorder.take(), trial.kernel_sites())) {
    if (tile.fits) continue;
    using enum layout::UsedTile::Cause;
    const char* const key = tile.cause == swizzle  ? "wrong/descriptor_swizzle"
                            : tile.cause == stride ? "wrong/descriptor_stride"
                                                   : "wrong/descriptor";
    return Cause{key, fmt::format("the descriptor of {} does not fit its tile: {}",
                                  tile.what.front(), tile.finding)};
  }
  return std::nullopt;
}

/// True if results for half of an operand are not half of the results: a conversion rounds.
bool loses_halves(const Failure& failure) {
  Trial trial(failure.code);
  const auto count = [&](int x, int y) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
  };
  const auto [m, n, k] = failure.size;
  const bool is_vector = failure.code.form.is_vector;
  const std::vector<float> ones(is_vector ? static_cast<std::size_t>(n) : count(n, k), 1.0f);
  const auto with_a = [&](float value) {
    const std::vector<float> a(is_vector ? static_cast<std::size_t>(n) : count(m, k), value);
    return trial.probe(failure.size, {a, ones, 0});
  };
  const std::vector<float> whole = with_a(1.0f), half = with_a(0.5f);
  return !std::ranges::equal(whole, half, {}, [](float value) { return value / 2; });
}

}  // namespace

std::optional<Cause> cause_of_wrong_sum(const Failure& failure) {
  const std::string_view form = failure.code.form.key;
  std::optional<Cause> found;
  if (form == "gemm_tma") {
    if (auto wrong = wrong_descriptor(failure)) return wrong;
  }
  if (form != "products") {
    if (auto terms = terms_of(failure.code, failure.size, failure.run.error->index)) {
      found = failure.code.form.is_vector ? cause_of_vectors(failure, *terms)
                                          : Sum(failure, std::move(*terms)).cause();
    }
  }
  if (found && found->key != "wrong/terms") return found;
  if (!found && loses_halves(failure)) {
    return Cause{"wrong/conversion",
                 "with integers as elements it is right, and with halves it is not: a conversion "
                 "drops the fraction"};
  }
  const std::string extents = ragged_extents(failure);
  if (extents.empty()) return found;
  return Cause{"wrong/edge",
               fmt::format("it is right where all tiles are whole; what is wrong depends "
                           "on {}{}",
                           extents, found ? ". " + found->text : "")};
}

}  // namespace rung::learn
