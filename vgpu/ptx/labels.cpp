#include "vgpu/ptx/labels.hpp"

#include <fmt/format.h>

#include <utility>

namespace rung::vgpu::ptx {

namespace {

const char* description(Labels::Kind kind) {
  switch (kind) {
    case Labels::Kind::code: return "a label in this scope or one around it";
    case Labels::Kind::targets: return "a list of .branchtargets";
    default: return "a declared function, .callprototype or list of .calltargets";
  }
}

}  // namespace

std::string Labels::define(std::string_view name, Kind kind, int line) {
  const int earlier = uses_[name]++;
  Label label{kind, std::string(name)};
  if (earlier > 0) label.name = fmt::format("{}@{}", name, earlier + 1);
  const auto [defined, fresh] = scopes_.back().labels.try_emplace(name, std::move(label));
  if (!fresh) lexer_.fail(line, fmt::format("label {} is defined twice", in_quotes(name)));
  return defined->second.name;
}

void Labels::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (Reference& reference : scope.references) {
    const auto label = scope.labels.find(reference.name);
    if (label != scope.labels.end()) {
      resolve(reference, label->second);
    } else if (scopes_.empty()) {
      fail_undefined(reference);
    } else {
      refer(std::move(reference));
    }
  }
}

void Labels::resolve(const Reference& reference, const Label& label) {
  if (label.kind != reference.kind) fail_undefined(reference);
  std::string& name = reference.in_list
                          ? function_.branch_targets[reference.at].labels[reference.operand]
                          : function_.body[reference.at].operands[reference.operand].name;
  name = label.name;
}

void Labels::fail_undefined(const Reference& reference) const {
  lexer_.fail(reference.line,
              fmt::format("{} is not {}", in_quotes(reference.name), description(reference.kind)));
}

}  // namespace rung::vgpu::ptx
