#include "core/rung.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace rung {
namespace {

/// The leading // lines, joined into one.
std::string header_of(std::string_view source) {
  std::string header;
  while (source.starts_with("//")) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(2, end - 2);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!header.empty()) header += ' ';
    header += line;
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return header;
}

/// Reads a header from left to right, field by field.
class FieldReader {
 public:
  FieldReader(std::string_view id, std::string_view header) : id_(id), rest_(header) {}

  void expect(std::string_view opening) {
    if (!rest_.starts_with(opening)) missing(opening);
    rest_.remove_prefix(opening.size());
  }

  /// Returns the text before `closing` and consumes both.
  std::string until(std::string_view closing) {
    const std::size_t length = rest_.find(closing);
    if (length == std::string_view::npos || length == 0) missing(closing);
    const std::string_view field = rest_.substr(0, length);
    rest_.remove_prefix(length + closing.size());
    return std::string(field);
  }

  std::string rest() {
    if (rest_.empty()) missing("try: <command>");
    return std::string(rest_);
  }

 private:
  [[noreturn]] void missing(std::string_view what) const {
    throw std::invalid_argument(
        fmt::format("{}: the header comment lacks '{}' (or the text before it); it is '<id>: "
                    "<idea>.', 'from: … | "
                    "removes: … | bottleneck: …', 'needs: … | try: …'",
                    id_, what.substr(std::min(what.find_first_not_of(" |"), what.size()))));
  }

  std::string_view id_;
  std::string_view rest_;
};

constexpr std::string_view mode_field = " | compute mode: ";

/// Removes the compute mode, if there is one, from the end of the preceding field and returns it.
ComputeMode take_compute_mode(std::string_view id, std::string& field) {
  const std::size_t at = field.find(mode_field);
  if (at == std::string::npos) return ComputeMode::standard;
  const std::string text = field.substr(at + mode_field.size());
  const auto mode = parse_compute_mode(text);
  if (!mode) {
    throw std::invalid_argument(fmt::format(
        "{}: '{}' is not a compute mode; there are {}, {} and {}", id, text,
        name(ComputeMode::standard), name(ComputeMode::split), name(ComputeMode::reproducible)));
  }
  field.resize(at);
  return *mode;
}

}  // namespace

RungInfo parse_rung(std::string_view id, std::string_view source) {
  const std::size_t op_end = id.find('/');
  const std::size_t backend_end = id.rfind('/');
  if (op_end == std::string_view::npos || op_end == backend_end) {
    throw std::invalid_argument(fmt::format("'{}' is not of the form op/backend/slug", id));
  }

  RungInfo rung;
  rung.id = id;
  rung.op = id.substr(0, op_end);
  rung.backend = id.substr(op_end + 1, backend_end - op_end - 1);
  rung.slug = id.substr(backend_end + 1);
  rung.source = source;

  const std::string header = header_of(source);
  FieldReader reader(id, header);
  // A rung of op `sum` has the header of the dot-product file that defines it.
  reader.expect((rung.op == "sum" ? "dot" + rung.id.substr(rung.op.size()) : rung.id) + ": ");
  rung.idea = reader.until(" from: ");
  rung.from = reader.until(" | removes: ");
  rung.removes = reader.until(" | bottleneck: ");
  rung.bottleneck = reader.until(" needs: ");
  rung.needs = reader.until(" | try: ");
  rung.compute_mode = take_compute_mode(id, rung.needs);
  rung.shown_by = reader.rest();
  if (rung.from == "nothing") rung.from.clear();
  if (!rung.idea.ends_with('.')) {
    throw std::invalid_argument(
        fmt::format("{}: the idea is '{}', which does not end in a full stop", id, rung.idea));
  }
  return rung;
}

}  // namespace rung
