#pragma once
// A PTX module as written: the parser's output, before anything is lowered. Names follow the PTX
// ISA manual, chapters 4 to 9.

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
    symbol,     // a variable, parameter or function by name, plus an offset: an address
    label,      // a branch target
    address,    // [base + offset], base a register, a symbol or nothing
    vector,     // {a, b, …}
    tuple,      // (a, b, …): arguments of a call
    pair,       // p|q: two destinations
    sink,       // _
  };
  Kind kind = Kind::sink;
  bool negated = false;     // !%p1, or a unary minus before a register
  bool is_float = false;    // immediate: written as floating point (0f… too)
  bool is_single = false;   // immediate written 0f…: bits holds the IEEE single, exactly
  int reg = -1;             // reg, or address with a register base: index of Function::registers
  std::uint64_t bits = 0;   // immediate: two's complement, or IEEE (double unless is_single)
  std::int64_t offset = 0;  // symbol, address
  std::string name;         // special, symbol, label, or address with a symbol base
  /// vector, tuple, pair. An address with several parts, as for tensors ([map, {x, y}]): all parts;
  /// the first one is also in reg, name and offset.
  std::vector<Operand> elements;
};

struct Instruction {
  Opcode opcode = Opcode::unknown;     // ld
  std::string unknown_word;            // of an unknown opcode: the opcode as written
  std::vector<std::string> modifiers;  // "global", "nc", "v4", "f32": in order, without dots
  std::vector<Operand> operands;       // destination first, as written
  int guard = -1;                      // @%p1: index of Function::registers
  bool guard_negated = false;          // @!%p1
  int line = 0;                        // in the PTX text, from 1
  SourceLine source;

  /// Sets the opcode from its text, and keeps the text of an unknown one.
  void set_opcode(std::string_view word);
  /// The opcode as written.
  std::string_view word() const;
  /// The whole mnemonic as written: "ld.global.nc.v4.f32".
  std::string mnemonic() const;
  bool has(std::string_view modifier) const;
  bool has(Fact fact) const { return ptx::has(opcode, fact); }
  /// Whether the opcode is one of these.
  template <class... Opcodes>
  bool is(Opcodes... opcodes) const {
    return ((opcode == opcodes) || ...);
  }
  /// ld, ldu, ldmatrix and wmma.load.
  bool is_load() const;
  /// st, stmatrix and wmma.store.
  bool is_store() const;
};

struct Register {
  std::string name;
  Type type;
};

struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::none;  // of an element
  int vector = 1;          // .v2, .v4
  std::int64_t count = 1;  // elements, all dimensions multiplied; 0: `.extern .shared x[]`
  int align = 1;           // bytes
  bool external = false;
  bool managed = false;  // .attribute(.managed)
  /// Bytes of the initialiser, zero-padded to the size; empty if there is none.
  std::vector<std::uint8_t> initial;
  /// Positions in `initial` that receive the address of another symbol.
  struct Fixup {
    std::size_t at;
    std::string symbol;
    std::int64_t offset;  // added to the address
    bool generic;         // written generic(symbol): an address in generic space
    int bytes;            // how many bytes of the sum are stored there,
    int shift;            // after a right shift by this many bits: 0xFF00(symbol) has shift 8
  };
  std::vector<Fixup> fixups;
  int line = 0;

  std::int64_t bytes() const;
};

struct Label {
  std::string name;
  std::size_t at;  // index of the instruction that follows
};

/// A `.func` or `.entry`. The parser makes registers of nested scopes unique: every operand's index
/// is unambiguous. Variables and labels of nested scopes whose name is already used are renamed:
/// `name@2`.
struct Function {
  std::string name;
  bool entry = false;
  bool external = false;  // only declared (`.extern .func vprintf`), without a body
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  /// The registers that the body uses, preceded by parameters and results in `.reg` space, which
  /// have the name of their Variable. `.reg .v2 .f32 v` gives `v.x` and `v.y`.
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .shared, .local, .param declared in the body
  std::vector<Instruction> body;
  std::vector<Label> labels;
  /// `name: .branchtargets a, b;` for brx.idx.
  struct Targets {
    std::string name;
    std::vector<std::string> labels;
  };
  std::vector<Targets> branch_targets;
  std::int64_t max_threads[3] = {0, 0, 0};       // .maxntid, 0 if not given
  std::int64_t required_threads[3] = {0, 0, 0};  // .reqntid
  int min_blocks = 0;                            // .minnctapersm
  int max_registers = 0;                         // .maxnreg
  std::int64_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster, blocks
  int line = 0;
};

/// `.alias name, target;`: another name for a function.
struct Alias {
  std::string name;
  std::string target;
};

struct Module {
  int version_major = 0, version_minor = 0;  // .version 8.7
  std::string target;                        // "sm_90a"
  int address_size = 64;
  std::vector<std::string> files;   // by index of `.file`; [0] is empty
  std::vector<Variable> variables;  // module scope
  std::vector<Function> functions;  // one of each name
  std::vector<Alias> aliases;

  /// The function of that name or alias; null if there is none.
  const Function* find(std::string_view function) const;
};

/// The architecture of `.target`: sm_80, or sm_90a, which is specific to one. 0 if it has another
/// form.
struct Target {
  int capability = 0;
  bool exact = false;
};
Target target_of(const Module& module);

}  // namespace rung::vgpu::ptx
