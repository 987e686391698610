#pragma once
// A PTX module as written: the output of the parser, before lowering. Names follow the PTX ISA
// manual, chapters 4 to 9.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/model/types.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace rung::vgpu::ptx {

struct Operand {
  enum class Kind : std::uint8_t {
    reg,        // %r1, also !%p1
    immediate,  // 7, -1, 0f3F800000, 0d…, 1.5
    special,    // %tid.x, %laneid, …: name without the %
    symbol,     // the address of a variable, parameter or function, plus an offset
    label,      // branch target
    address,    // [base + offset], where base is a register, a symbol or empty
    vector,     // {a, b, …}
    tuple,      // (a, b, …): arguments of a call
    pair,       // p|q: two destinations
    sink,       // _
  };
  Kind kind = Kind::sink;
  bool negated = false;     // !%p1, or unary minus before a register
  bool is_float = false;    // immediate: written as floating point, including 0f…
  bool is_single = false;   // immediate written 0f…: bits holds the exact IEEE single
  int reg = -1;             // reg, or address with a register base: index in Function::registers
  std::uint64_t bits = 0;   // immediate: two's complement, or IEEE (double unless is_single)
  std::int64_t offset = 0;  // symbol, address
  std::string name;         // special, symbol, label, or address with a symbol base
  /// vector, tuple, pair: their elements. An address with several parts, as for tensors ([map, {x,
  /// y}]): all parts, with the first also in reg, name and offset.
  std::vector<Operand> elements;
};

struct Instruction {
  Opcode opcode{};                     // such as ld
  std::string unknown_word;            // unknown opcode, as written
  std::vector<std::string> modifiers;  // "global", "nc", "v4", "f32": in order, without dots
  std::vector<Operand> operands;       // destination first, as written
  int guard = -1;                      // @%p1: index in Function::registers
  bool guard_negated = false;          // @!%p1
  int line = 0;                        // in the PTX text, from 1
  SourceLine source;
  /// The call that its function was inlined for: an index of Module::calls, or 0.
  std::uint32_t inlined_by = 0;

  /// Sets the opcode from its text, and stores the text if the opcode is unknown.
  void set_opcode(std::string_view word);
  /// The opcode as written.
  std::string_view word() const;
  /// The whole mnemonic as written: "ld.global.nc.v4.f32".
  std::string mnemonic() const;
  bool has(std::string_view modifier) const;
  bool has(Fact fact) const { return ptx::has(opcode, fact); }
  /// True if the opcode is one of these.
  template <class... Opcodes>
  bool is(Opcodes... opcodes) const {
    return ((opcode == opcodes) || ...);
  }
  /// True for ld, ldu, ldmatrix and wmma.load.
  bool is_load() const;
  /// True for st, stmatrix and wmma.store.
  bool is_store() const;
};

struct Register {
  std::string name;
  Type type;
};

struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::none;  // of each element
  int vector = 1;          // .v2, .v4
  std::int64_t count = 1;  // number of elements, over all dimensions; 0: `.extern .shared x[]`
  int align = 1;           // bytes
  bool external = false;
  bool managed = false;  // .attribute(.managed)
  /// The initial value, zero-padded to the size; empty without an initialiser.
  std::vector<std::uint8_t> initial;
  /// A position in `initial` that receives the address of another symbol.
  struct Fixup {
    std::size_t at;
    std::string symbol;
    std::int64_t offset;  // added to the address
    bool generic;         // written generic(symbol): an address in the generic space
    int bytes;            // number of bytes of the sum stored there
    int shift;            // right shift before that, in bits: 8 for 0xFF00(symbol)
  };
  std::vector<Fixup> fixups;
  int line = 0;

  std::int64_t bytes() const;
};

struct Label {
  std::string name;
  std::size_t at;  // index of the following instruction
};

/// A `.func` or `.entry`. The parser makes registers of nested scopes unique, so that every
/// operand's index is unambiguous. Variables and labels of nested scopes are renamed to `name@2` if
/// their name is already used.
struct Function {
  std::string name;
  bool entry = false;
  bool external = false;  // only declared (`.extern .func vprintf`)
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  /// The registers that the body uses, preceded by parameters and results in `.reg` space, with the
  /// names of their Variables. `.reg .v2 .f32 v` is represented by `v.x` and `v.y`.
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .shared, .local, .param declared in the body
  std::vector<Instruction> body;
  std::vector<Label> labels;
  /// `name: .branchtargets a, b;`, for brx.idx.
  struct Targets {
    std::string name;
    std::vector<std::string> labels;
  };
  std::vector<Targets> branch_targets;
  std::int64_t max_threads[3] = {0, 0, 0};       // .maxntid; 0: not specified
  std::int64_t required_threads[3] = {0, 0, 0};  // .reqntid
  int min_blocks = 0;                            // .minnctapersm
  int max_registers = 0;                         // .maxnreg
  std::int64_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster, in blocks
  int line = 0;
};

/// `.alias name, target;`: another name for a function.
struct Alias {
  std::string name;
  std::string target;
};

/// A call in the source for which the compiler has inlined a function.
struct InlinedCall {
  std::string file;     // as the compiler was given it
  int file_number = 0;  // of a `.file`, or 0
  int line = 0;
  std::uint32_t inlined_by = 0;  // its own function was inlined for this call, or 0
};

struct Module {
  int version_major = 0, version_minor = 0;  // .version 8.7
  std::string target;                        // "sm_90a"
  int address_size = 64;
  std::vector<std::string> files;   // by `.file` index; [0] is empty
  std::vector<Variable> variables;  // module scope
  std::vector<Function> functions;  // one for each name
  std::vector<Alias> aliases;
  std::vector<InlinedCall> calls;   // that were inlined; [0] is not used
  bool has_numbered_calls = false;  // the column of each .loc is an index of `calls`

  /// The function with that name or alias; null if the module lacks it.
  const Function* find(std::string_view function) const;
};

/// The architecture in `.target`, such as sm_80, or sm_90a with `exact` set. `capability` is 0 if
/// the text has another form.
struct Target {
  int capability = 0;
  bool exact = false;
};
Target target_of(const Module& module);

}  // namespace rung::vgpu::ptx
