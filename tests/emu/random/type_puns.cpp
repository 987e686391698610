// Steps in which objects of other types are written and read at one address.

#include <fmt/format.h>

#include <array>

#include "random/kernel_text.hpp"

namespace rung {
namespace {

constexpr unsigned room = 32;  // bytes of a thread

struct Type {
  const char* name;
  unsigned bytes;
  bool is_integer;
};
constexpr std::array types = {
    Type{"unsigned char", 1, true}, Type{"short", 2, true},
    Type{"unsigned", 4, true},      Type{"int", 4, true},
    Type{"float", 4, false},        Type{"__half2", 4, false},
    Type{"Halves", 4, false},       Type{"unsigned long long", 8, true},
    Type{"double", 8, false},       Type{"float2", 8, false},
    Type{"uint2", 8, false},        Type{"Mixed", 8, false},
    Type{"uint4", 16, false},       Type{"float4", 16, false},
    Type{"double2", 16, false},
};

}  // namespace

/// An element of the room, as a type: `((float*)m)[v1 & 7]`.
std::string KernelText::punned(const char* type, unsigned bytes) {
  const unsigned count = room / bytes;
  const std::string index =
      one_in(2) ? fmt::format("{}", below(count)) : fmt::format("{} & {}", value(1), count - 1);
  return fmt::format("((({}*)m)[{}])", type, index);
}

std::string KernelText::pun_statement() {
  const Type& type = types[below(types.size())];
  const Type& other = types[below(types.size())];
  const std::string place = punned(type.name, type.bytes);
  const unsigned to = below(4);
  switch (below(6)) {
    case 0: return fmt::format("{} = made_of<{}>({}, {});\n", place, type.name, value(1), value(0));
    case 1:
      if (!type.is_integer) break;
      return fmt::format("{} {}= ({})({});\n", place, one_in(2) ? "^" : "&", type.name, value(1));
    case 2:
      return fmt::format("v{} += set_both(&{}, &{}, {}, {});\n", to, place,
                         punned(other.name, other.bytes), value(1), value(0));
    case 3: {
      const std::string i = fmt::format("i{}", names_++);
      return fmt::format(
          "for (unsigned {0} = 0; {0} < ({1} & 7); ++{0}) {{\n"
          "(({2}*)m)[{0} % {3}] = made_of<{2}>(v{4} + {0}, {0});\n"
          "v{4} ^= folded({5});\n}}\n",
          i, value(1), type.name, room / type.bytes, to, punned(other.name, other.bytes));
    }
    case 4:
      return fmt::format("{{ {0} t; memcpy(&t, &{1}, sizeof t); {1} = {1}; v{2} += folded(t); }}\n",
                         type.name, place, to);
    default: break;
  }
  return fmt::format("v{} += folded({});\n", to, place);
}

KernelText::Step KernelText::pun() {
  const Type& declared = types[below(types.size())];
  std::string body =
      fmt::format("for (unsigned i = 0; i < {}; ++i) ((unsigned*)m)[i] = v0 + i * v1;\n", room / 4);
  for (unsigned count = 3 + below(6); count > 0; --count) body += pun_statement();
  const std::string array = fmt::format("{} m[{}];\n", declared.name, room / declared.bytes);
  const std::string pointer = fmt::format("{}* const m = ({}*)", declared.name, declared.name);
  const std::array memories = {array, pointer + fmt::format("(shared_room + {} * tid);\n", room),
                               pointer + fmt::format("(global_room + {} * id);\n", room)};
  return {"{ " + memories[below(memories.size())] + body + "}\n",
          for_each_thread("alignas(16) " + array + body)};
}

}  // namespace rung
