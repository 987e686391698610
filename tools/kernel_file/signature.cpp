#include "tools/kernel_file/signature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/dtype_traits.hpp"
#include "tools/kernel_file/nearest_name.hpp"
#include "tools/kernel_file/source_functions.hpp"

namespace rung {
namespace {

constexpr std::array<std::string_view, 18> role_names = {
    "m", "n",   "k", "alpha", "a", "lda",  "b",      "ldb",    "beta",
    "c", "ldc", "x", "incx",  "y", "incy", "result", "stream", "scalars"};
constexpr std::array<std::string_view, 3> ops = {"gemm", "dot", "sum"};
// Function names that are accepted if --as gives the operation.
constexpr std::array<std::string_view, 2> other_names = {"launch", "solve"};

struct OpRoles {
  std::vector<Role> required, optional;
};

OpRoles roles_of(std::string_view op) {
  using enum Role;
  if (op == "gemm") return {{m, n, k, a, b, c}, {alpha, lda, ldb, beta, ldc, stream}};
  if (op == "dot") return {{n, x, y, result}, {incx, incy, stream}};
  return {{n, x, result}, {incx, stream}};
}

/// "m, n, k"
std::string names_of(const std::vector<Role>& roles) {
  std::vector<std::string_view> names;
  for (const Role role : roles) names.push_back(name(role));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_pointer(Role role) {
  using enum Role;
  constexpr std::array pointers = {a, b, c, x, y, result};
  return std::ranges::find(pointers, role) != pointers.end();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

[[noreturn]] void refuse(const SignatureRequest& request, int line, const std::string& why) {
  throw KernelFileError(fmt::format("{}:{}: {}", request.file.string(), line, why));
}

std::optional<Role> role_called(const std::string& name) {
  const auto found = std::ranges::find(role_names, lower(name));
  if (found == role_names.end()) return std::nullopt;
  return static_cast<Role>(found - role_names.begin());
}

/// The element type of a pointer, without const, address spaces and namespaces: "float".
std::string element_of(std::string type) {
  for (const std::string_view word :
       {"constant", "const", "device", "std::", "metal::", "*", "&", " ", "struct"}) {
    for (std::size_t at = 0; (at = type.find(word)) != type.npos;) type.erase(at, word.size());
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 19> names = {
      {{"__half", "half"},
       {"__nv_bfloat16", "bfloat16"},
       {"nv_bfloat16", "bfloat16"},
       {"__nv_fp8_e4m3", "e4m3"},
       {"__nv_fp8_e5m2", "e5m2"},
       {"int32_t", "int"},
       {"uint32_t", "int"},
       {"unsigned", "int"},
       {"unsignedint", "int"},
       {"int8_t", "char"},
       {"signedchar", "char"},
       {"char", "char"},
       {"int", "int"},
       {"half", "half"},
       {"bfloat", "bfloat16"},
       {"uint", "int"},
       {"atomic_float", "float"},
       {"atomic_int", "int"},
       {"atomic_uint", "int"}}};
  const auto found =
      std::ranges::find_if(names, [&](const auto& pair) { return pair.first == type; });
  return found == names.end() ? type : std::string(found->second);
}

std::optional<Dtype> dtype_of_elements(const std::string& in, const std::string& out) {
  struct Row {
    std::string_view in, out;
    Dtype dtype;
  };
  constexpr std::array rows = std::to_array<Row>({{"float", "float", Dtype::f32},
                                                  {"double", "double", Dtype::f64},
                                                  {"int", "int", Dtype::i32},
                                                  {"bfloat16", "float", Dtype::bf16},
                                                  {"half", "float", Dtype::f16},
                                                  {"char", "int", Dtype::i8},
                                                  {"e4m3", "float", Dtype::e4m3},
                                                  {"e5m2", "float", Dtype::e5m2},
                                                  {"bfloat16", "bfloat16", Dtype::bf16_bf16},
                                                  {"half", "half", Dtype::f16_f16}});
  const auto found =
      std::ranges::find_if(rows, [&](const Row& row) { return row.in == in && row.out == out; });
  return found == rows.end() ? std::nullopt : std::optional(found->dtype);
}

bool is_host(const SourceFunction& function) { return !function.is_kernel && !function.is_device; }

bool is_metal(const SignatureRequest& request) { return request.file.extension() == ".metal"; }

/// True if Rung can call the function: a Metal kernel or, in CUDA, a host function that launches
/// kernels.
bool is_callable(const SignatureRequest& request, const SourceFunction& function) {
  return is_metal(request) ? function.is_kernel : is_host(function);
}

/// The functions to look for: the one that the request names, or those named after an operation.
std::vector<std::string_view> wanted_names(const SignatureRequest& request) {
  if (!request.function.empty()) return {request.function};
  if (request.as.empty()) return {ops.begin(), ops.end()};
  return {request.as, other_names[0], other_names[1]};
}

/// The operation whose function most likely launches this kernel, by its name and its inputs.
std::string_view likely_op(const SourceFunction& kernel) {
  for (const std::string_view op : ops) {
    if (kernel.name.find(op) != kernel.name.npos) return op;
  }
  const auto is_input = [](const SourceParameter& parameter) {
    return parameter.type.starts_with("const ") && parameter.type.ends_with('*');
  };
  const bool has_k = std::ranges::any_of(kernel.parameters, [](const SourceParameter& parameter) {
    return parameter.name == "k" || parameter.name == "K";
  });
  if (has_k) return "gemm";
  return std::ranges::count_if(kernel.parameters, is_input) == 1 ? "sum" : "dot";
}

/// "x=rand:1024 y=out:1024 n=1024": arguments of a launch by `rung explain` and `rung run`.
std::string example_arguments(const SourceFunction& kernel) {
  std::string text;
  for (const SourceParameter& parameter : kernel.parameters) {
    const bool is_buffer = parameter.type.ends_with('*');
    const bool is_input = parameter.type.starts_with("const ");
    text += fmt::format(" {}={}1024", parameter.name,
                        !is_buffer ? ""
                        : is_input ? "rand:"
                                   : "out:");
  }
  return text;
}

/// Reports a kernel that no function launches. The message contains a launch function to add to the
/// file, and a command that needs none.
[[noreturn]] void refuse_kernel_alone(const SignatureRequest& request,
                                      const SourceFunction& kernel) {
  std::vector<std::string> parameters, arguments;
  for (const SourceParameter& parameter : kernel.parameters) {
    parameters.push_back(parameter.type + " " + parameter.name);
    arguments.push_back(parameter.name);
  }
  const bool is_op = std::ranges::find(ops, request.as) != ops.end();
  refuse(request, kernel.line,
         fmt::format(
             "{0} is a kernel, and no function launches it: add void {1}({2}) "
             "{{ {0}<<<grid, block>>>({3}); }}{4}",
             kernel.name, is_op ? std::string_view(request.as) : likely_op(kernel),
             fmt::join(parameters, ", "), fmt::join(arguments, ", "),
             is_op ? ""
                   : fmt::format("; for other ops launch it, as in rung explain {}:{} "
                                 "--grid 4 --block 256{}, or add a main()",
                                 request.file.string(), kernel.name, example_arguments(kernel))));
}

[[noreturn]] void refuse_missing(const SignatureRequest& request,
                                 const std::vector<SourceFunction>& functions) {
  const auto wanted = wanted_names(request);
  const std::string what =
      fmt::format("{}: no {} {} outside of namespaces", request.file.string(),
                  is_metal(request) ? "kernel" : "host function", fmt::join(wanted, ", "));
  for (const SourceFunction& function : functions) {
    if (std::ranges::find(wanted, function.name) == wanted.end()) continue;
    if (is_metal(request)) refuse(request, function.line, function.name + " is not a kernel");
    if (function.is_kernel) refuse_kernel_alone(request, function);
  }
  std::vector<std::string_view> callable;
  bool is_program = false;
  for (const SourceFunction& function : functions) {
    const bool is_main = function.name == "main";
    is_program = is_program || is_main;
    if (!is_main && is_callable(request, function)) callable.push_back(function.name);
  }
  for (const std::string_view name : wanted) {
    const std::string hint = did_you_mean(name, callable);
    if (!hint.empty()) throw KernelFileError(what + hint);
  }
  if (callable.empty() && is_program) {
    throw KernelFileError(what + "; it is a program, which rung explain and rung emu run");
  }
  const auto kernel = std::ranges::find_if(functions, &SourceFunction::is_kernel);
  if (callable.empty() && kernel != functions.end()) refuse_kernel_alone(request, *kernel);
  if (callable.empty())
    throw KernelFileError(what +
                          "; it has none that can be called; rung new writes a file to start from");
  throw KernelFileError(fmt::format("{}; it has {}: name one as {}:{} with --as gemm, dot or sum",
                                    what, fmt::join(callable, ", "), request.file.string(),
                                    callable.front()));
}

const SourceFunction& find_function(const SignatureRequest& request,
                                    const std::vector<SourceFunction>& functions) {
  std::vector<const SourceFunction*> found;
  for (const std::string_view name : wanted_names(request)) {
    for (const SourceFunction& function : functions) {
      if (function.name == name && is_callable(request, function)) found.push_back(&function);
    }
    if (!found.empty() && !(request.function.empty() && request.as.empty())) break;
  }
  if (found.empty()) refuse_missing(request, functions);
  if (found.size() > 1) {
    refuse(
        request, found[1]->line,
        found[0]->name == found[1]->name
            ? fmt::format("a second {}, after the one at line {}; one is allowed", found[1]->name,
                          found[0]->line)
            : fmt::format("{} besides {}; choose one with --as", found[1]->name, found[0]->name));
  }
  if (found.front()->is_template) {
    refuse(request, found.front()->line,
           fmt::format("{} is a template; rung calls a plain {}", found.front()->name,
                       is_metal(request) ? "kernel" : "function"));
  }
  return *found.front();
}

std::string op_of(const SignatureRequest& request, const SourceFunction& function) {
  if (!request.as.empty()) return request.as;
  if (std::ranges::find(ops, function.name) != ops.end()) return function.name;
  refuse(request, function.line,
         fmt::format("{}: add --as gemm, dot or sum, to say what it computes", function.name));
}

/// Checks the address space of a kernel's parameter.
void check_address_space(const SignatureRequest& request, const SourceFunction& function,
                         const SourceParameter& parameter, Role role) {
  const bool fits = is_pointer(role) ? parameter.type.find("device") != std::string::npos
                                     : parameter.type.find("constant") != std::string::npos &&
                                           parameter.type.ends_with('&');
  if (fits) return;
  refuse(
      request, function.line,
      fmt::format("{}: parameter '{}' is {}; it must be a {}", function.name, parameter.name,
                  parameter.type,
                  is_pointer(role) ? "pointer to device memory" : "reference to constant memory"));
}

/// True if the dispatch sets the parameter, such as [[thread_position_in_grid]]. Such parameters
/// must come last, because the virtual GPU treats them as default arguments.
bool is_position(const SignatureRequest& request, const SourceFunction& function,
                 const SourceParameter& parameter) {
  if (!is_metal(request)) return false;
  if (parameter.attribute.starts_with("threadgroup(") ||
      parameter.attribute.starts_with("threadgroup (")) {
    refuse(request, function.line,
           fmt::format("{}: the length of '{}' is not known; declare threadgroup memory in the "
                       "kernel",
                       function.name, parameter.name));
  }
  return !parameter.attribute.empty() && !parameter.attribute.starts_with("buffer");
}

KernelParameter read_parameter(const SignatureRequest& request, const SourceFunction& function,
                               const SourceParameter& parameter, const OpRoles& allowed,
                               const std::string& op) {
  std::vector<std::string_view> names;
  for (const auto* roles : {&allowed.required, &allowed.optional}) {
    for (const Role role : *roles) names.push_back(name(role));
  }
  const bool is_scalars =
      is_metal(request) && parameter.type.find("Scalars") != parameter.type.npos;
  const auto role = is_scalars ? Role::scalars : role_called(parameter.name);
  if (is_scalars) return {parameter.type, Role::scalars};
  if (!role || std::ranges::find(names, name(*role)) == names.end()) {
    refuse(request, function.line,
           fmt::format("{}: parameter '{}' is none of those of a {}: {}{}", function.name,
                       parameter.name.empty() ? parameter.type : parameter.name, op,
                       fmt::join(names, ", "), did_you_mean(parameter.name, names)));
  }
  if (is_metal(request)) check_address_space(request, function, parameter, *role);
  if (is_pointer(*role) != (parameter.type.find('*') != std::string::npos)) {
    refuse(request, function.line,
           fmt::format("{}: parameter '{}' is {}; it must {}be a pointer", function.name,
                       parameter.name, parameter.type, is_pointer(*role) ? "" : "not "));
  }
  return {parameter.type, *role};
}

Dtype read_dtype(const SignatureRequest& request, const SourceFunction& function,
                 const Signature& signature) {
  const auto element = [&](Role role) {
    const auto& parameters = signature.parameters;
    const auto at =
        std::ranges::find_if(parameters, [&](const auto& each) { return each.role == role; });
    return element_of(at->type);
  };
  const bool is_gemm = signature.op == "gemm";
  const Role first = is_gemm ? Role::a : Role::x;
  const std::string in = element(first);
  const std::string out = element(is_gemm ? Role::c : Role::result);
  const auto dtype = dtype_of_elements(in, out);
  const bool fits = dtype && (is_gemm || is_for_dot(*dtype));
  if (!fits) {
    refuse(request, function.line,
           fmt::format("{}: no kernel of a {} reads {} and writes {}; types are {} to float{}",
                       function.name, signature.op, in, out,
                       is_metal(request) ? "float, int, half or bfloat"
                                         : "float, double, int, __half or __nv_bfloat16",
                       is_gemm ? " or themselves, signed char to int" : ""));
  }
  for (const Role second : {Role::b, Role::y}) {
    if (signature.has(second) && element(second) != in) {
      refuse(request, function.line,
             fmt::format("{}: {} is of {} and {} of {}; both must be of one type", function.name,
                         name(first), in, name(second), element(second)));
    }
  }
  return *dtype;
}

}  // namespace

std::string_view name(Role role) { return role_names[static_cast<std::size_t>(role)]; }

std::string name(const MatrixLayout& layout) {
  return fmt::format("{}{}{}", layout.a_transposed ? 't' : 'n', layout.b_transposed ? 't' : 'n',
                     layout.column_major ? ", column-major" : "");
}

bool Signature::has(Role role) const {
  if (!is_pointer(role) && role != Role::stream && role != Role::scalars && has(Role::scalars)) {
    return true;
  }
  return std::ranges::any_of(parameters, [&](const auto& each) { return each.role == role; });
}

Signature read_signature(const SignatureRequest& request) {
  const std::vector<SourceFunction> functions = source_functions(request.text);
  const SourceFunction& function = find_function(request, functions);
  Signature signature;
  signature.function = function.name;
  signature.line = function.line;
  signature.op = op_of(request, function);
  signature.returns_error = function.result.ends_with("cudaError_t");
  if (!signature.returns_error && !function.result.ends_with("void")) {
    refuse(request, function.line,
           fmt::format("{} returns {}; it must return void or cudaError_t", function.name,
                       function.result));
  }
  OpRoles allowed = roles_of(signature.op);
  if (is_metal(request)) std::erase(allowed.optional, Role::stream);
  std::set<Role> seen;
  bool positions_began = false;
  for (const SourceParameter& parameter : function.parameters) {
    if (is_position(request, function, parameter)) {
      positions_began = true;
      continue;
    }
    if (positions_began) {
      refuse(request, function.line,
             fmt::format("{}: buffer '{}' after a position of threads; put the buffers first",
                         function.name, parameter.name));
    }
    signature.parameters.push_back(
        read_parameter(request, function, parameter, allowed, signature.op));
    if (!seen.insert(signature.parameters.back().role).second) {
      refuse(request, function.line,
             fmt::format("{}: a second parameter '{}'", function.name, parameter.name));
    }
  }
  for (const Role role : allowed.required) {
    if (signature.has(role)) continue;
    refuse(request, function.line,
           fmt::format("{} has no parameter '{}', which a {} needs: {}, in upper or lower case",
                       function.name, name(role), signature.op, names_of(allowed.required)));
  }
  signature.dtype = read_dtype(request, function, signature);
  return signature;
}

bool has_main(std::string_view text) {
  return std::ranges::any_of(source_functions(text),
                             [](const SourceFunction& each) { return each.name == "main"; });
}

bool is_kernel_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file && !has_main(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace rung
