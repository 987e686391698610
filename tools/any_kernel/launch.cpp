#include "tools/any_kernel/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <regex>
#include <span>
#include <stdexcept>

#include "backends/metal/threadgroup_memory.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/reports/metal_words.hpp"
#include "tools/any_kernel/textures.hpp"
#include "tools/kernel_file/nearest_name.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/inlined_callers.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung::any_kernel {
namespace {

// Begins the names of allocations, by which hazards are recognised.
constexpr const char* argument_word = "argument ";

/// The value of one parameter.
struct Bound {
  const Parameter* parameter = nullptr;
  ValueText text;
  std::optional<Array> array;    // of a buffer, before the launch
  std::vector<std::byte> bytes;  // of a value
  std::uint64_t address = 0;     // of a buffer or of texels on the device
  std::uint64_t descriptor = 0;  // of a texture on the device
  const GivenValue* given = nullptr;
  std::size_t owner = no_owner;   // of a member of a struct: the index of the struct's parameter
  std::size_t member_offset = 0;  // bytes within the struct

  static constexpr auto no_owner = static_cast<std::size_t>(-1);

  /// The caller's memory has the buffer, but only what the texels are made of.
  bool is_given_buffer() const {
    return given != nullptr && given->kind == GivenValue::Kind::buffer;
  }
  std::span<const std::byte> contents() const {
    return is_given_buffer() ? given->bytes : std::span<const std::byte>(array->bytes);
  }
  /// For the kernel: of texels, of a texture's descriptor or within a buffer.
  std::uint64_t passed_address() const {
    if (descriptor != 0) return descriptor;
    return address + (given != nullptr ? given->offset : 0);
  }
};

bool is_writable(const Bound& bound) {
  if (bound.given != nullptr) return bound.given->is_result;
  return bound.array && !bound.parameter->type->to_const;
}

/// The type of the struct that a parameter is or points to.
const Type& struct_type(const Parameter& parameter) {
  const bool is_pointed_to = parameter.type->is_address() && parameter.type->element != nullptr;
  return is_pointed_to ? *parameter.type->element : *parameter.type;
}

std::string described(const Parameter& parameter) {
  return fmt::format("{} ({})", parameter.label(), parameter.type->name);
}

/// True for parameters whose number is that of --buffer.
bool is_numbered(const Parameter& parameter) {
  return parameter.kind == Parameter::Kind::buffer || parameter.kind == Parameter::Kind::value;
}

/// A value that the parameter could have, as on the command line.
const char* example_of(const Parameter& parameter) {
  const Type& type = *parameter.type;
  switch (parameter.kind) {
    case Parameter::Kind::threadgroup: return "shared:1024";
    case Parameter::Kind::texture: return "rand:48x64";
    case Parameter::Kind::buffer:
    case Parameter::Kind::value:
      if (type.is_address()) return "rand:100";
      return type.kind == Type::Kind::record ? "FIELD:1,…" : "1";
    default: return "VALUE";
  }
}

/// Memory of threadgroups, textures and samplers have numbers of their own.
const Parameter& find_parameter(const Kernel& kernel, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.name == name && !name.empty()) return parameter;
    names.push_back(parameter.name);
  }
  for (const Parameter& parameter : kernel.parameters) {
    if (std::to_string(parameter.index) == name && is_numbered(parameter)) {
      return parameter;
    }
  }
  if (names.empty()) {
    throw ArgumentError(fmt::format("{}: kernel {} has no parameters", name, kernel.name));
  }
  throw ArgumentError(fmt::format("{}: kernel {} has no parameter of this name; it has {}{}", name,
                                  kernel.name, fmt::join(names, ", "), did_you_mean(name, names)));
}

class Launch {
 public:
  Launch(const Kernel& kernel, const LaunchRequest& request) : kernel_(kernel), request_(request) {
    for (const std::string& text : request.expectations) {
      expectations_.push_back(parse_expectation(text));
    }
    if (!request.given.empty()) {
      bind_given();
      return;
    }
    bind_arguments();
    add_members();
    make_arrays();
    check_expectations();
  }

  Outcome run(LoadedKernel& loaded) {
    upload_all(loaded);
    vgpu::LaunchOptions options = launch_options();
    lay_out_threadgroup_memory(loaded, options);
    Outcome outcome;
    try {
      outcome.report = vgpu::launch(*loaded.kernel, options, parameter_bytes(*loaded.kernel),
                                    loaded.memory, request_.device);
    } catch (const std::invalid_argument& error) {
      throw ArgumentError(fmt::format("{}: {}", kernel_.name, error.what()));
    }
    vgpu::add_callers(outcome.report, loaded.module->text());
    if (request_.given.empty()) outcome.sites = vgpu::sites(*loaded.kernel);
    if (request_.observer) request_.observer(outcome.report, *loaded.kernel);
    for (const Bound& bound : bound_) {
      if (is_writable(bound)) outcome.results.push_back(download(loaded.memory, bound));
      if (bound.descriptor != 0) loaded.memory.free(bound.descriptor);
    }
    name_hazards(outcome.report, loaded.is_metal);
    if (!outcome.report.fault) judge_results(outcome);
    return outcome;
  }

 private:
  void bind_arguments() {
    std::map<const Parameter*, ValueText> given;
    for (const auto& [name, value] : request_.arguments) {
      const Parameter& parameter = find_parameter(kernel_, name);
      if (!given.emplace(&parameter, value_text(parameter, name, value)).second) {
        throw ArgumentError(fmt::format("{}: has two values", parameter.label()));
      }
    }
    for (const std::string& name : request_.outputs) {
      given.emplace(&find_parameter(kernel_, name), parse_value(name, "out"));
    }
    std::vector<std::string> missing;
    std::map<std::string, std::string> possible;  // one parameter for each kind of value
    for (const Parameter& parameter : kernel_.parameters) {
      const auto found = given.find(&parameter);
      if (found == given.end() && !parameter.is_optional) {
        missing.push_back(described(parameter));
        possible.emplace(example_of(parameter), parameter.label());
      } else {
        bound_.push_back({&parameter,
                          found == given.end() ? absent_value(parameter) : found->second,
                          std::nullopt,
                          {},
                          0});
      }
    }
    if (missing.empty()) return;
    std::string examples_text;
    for (const auto& [value, name] : possible) examples_text += fmt::format(" {}={}", name, value);
    throw ArgumentError(fmt::format("{}: no value for {}; write values such as{}", kernel_.name,
                                    fmt::join(missing, ", "), examples_text));
  }

  /// The value of a parameter that a function constant leaves out.
  static ValueText absent_value(const Parameter& parameter) {
    using enum Parameter::Kind;
    const char* text = "null";
    if (parameter.kind == value) text = parameter.type->members.empty() ? "0" : "*:0";
    if (parameter.kind == threadgroup) text = "shared:16";
    if (parameter.kind == sampler) text = "nearest";
    return value_text(parameter, parameter.label(), text);
  }

  static ValueText value_text(const Parameter& parameter, const std::string& name,
                              const std::string& value) {
    if (parameter.kind != Parameter::Kind::sampler) return parse_value(name, value);
    ValueText text;
    text.text = value;
    return text;
  }

  /// Binds the pointers and textures in structs as parameters of their own.
  void add_members() {
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Parameter& owner = kernel_.parameters[i];
      if (!is_numbered(owner)) continue;
      for (MemberValue& member : member_values(owner.label(), bound_[i].text, struct_type(owner))) {
        bound_.push_back(member_of(i, member.leaf));
        bound_.back().text = std::move(member.text);
      }
    }
  }
  Bound member_of(std::size_t owner, const Leaf& leaf) {
    Bound bound;
    bound.parameter = &members_.emplace_back(member_parameter(kernel_.parameters[owner], leaf));
    bound.owner = owner;
    bound.member_offset = leaf.offset;
    return bound;
  }
  Bound given_member(const MemberPlace& place) {
    const std::vector<Leaf> all = leaves(struct_type(kernel_.parameters.at(place.parameter)));
    return member_of(place.parameter, all.at(place.leaf));
  }

  void bind_given() {
    const std::size_t parameters = kernel_.parameters.size();
    if (request_.given.size() != parameters + request_.members.size()) {
      throw ArgumentError(fmt::format("{}: has {} parameters; {} values are given", kernel_.name,
                                      parameters, request_.given.size()));
    }
    for (std::size_t i = 0; i < request_.given.size(); ++i) {
      const GivenValue& given = request_.given[i];
      Bound bound;
      if (i < parameters) {
        bound.parameter = &kernel_.parameters[i];
      } else {
        bound = given_member(request_.members[i - parameters]);
      }
      bound.given = &given;
      if (given.kind == GivenValue::Kind::value) {
        bound.bytes.assign(given.bytes.begin(), given.bytes.end());
      } else if (given.kind == GivenValue::Kind::buffer) {
        bound.array = described_array(*bound.parameter, given);
      } else if (given.kind == GivenValue::Kind::texture) {
        bound.array = make_texture(bound.parameter->label(), elements_of(given), texture_of(bound));
        bound.array->is_written = given.is_written;
      } else if (given.kind == GivenValue::Kind::sampler) {
        bound.bytes = make_sampler(bound.parameter->label(), given.text);
      } else if (given.kind == GivenValue::Kind::threadgroup) {
        bound.text.bytes = static_cast<std::int64_t>(given.offset);
      }
      bound_.push_back(std::move(bound));
    }
  }

  static NpyArray elements_of(const GivenValue& given) {
    NpyArray array{given.text, 0, given.shape, {given.bytes.begin(), given.bytes.end()}};
    const std::optional<Scalar> scalar = array.scalar();
    array.item_bytes = scalar ? bytes(*scalar) : 0;
    return array;
  }

  /// The unsigned type of the size of a given buffer's elements, which PTX does not state.
  static TypePtr unsigned_type(const GivenValue& given) {
    const std::int64_t elements = count(given.shape);
    const std::size_t bytes =
        elements > 0 ? given.bytes.size() / static_cast<std::size_t>(elements) : 1;
    return scalar_type(bytes == 2   ? Scalar::u16
                       : bytes == 4 ? Scalar::u32
                       : bytes == 8 ? Scalar::u64
                                    : Scalar::u8);
  }

  /// The type and shape of a given buffer, for messages.
  static Array described_array(const Parameter& parameter, const GivenValue& given) {
    TypePtr element = parameter.type->element;
    if (element == nullptr || element->bytes == 0) element = unsigned_type(given);
    const auto elements = static_cast<std::int64_t>(given.bytes.size() / element->bytes);
    return {element,
            count(given.shape) == elements ? given.shape : Shape{elements},
            {},
            given.is_written};
  }

  /// Arrays whose shape an expectation determines come last.
  void make_arrays() {
    for (Bound& bound : bound_) {
      const bool waits = bound.parameter->kind == Parameter::Kind::buffer && bound.text.is_out() &&
                         bound.text.shape.empty() && expected_of(bound) != nullptr;
      if (!waits) make(bound);
    }
    for (Bound& bound : bound_) {
      if (bound.array || bound.parameter->kind != Parameter::Kind::buffer || is_null(bound))
        continue;
      bound.text.shape = result_shape(*expected_of(bound), operands());
      make(bound);
    }
  }

  static bool is_null(const Bound& bound) { return bound.text.kind == ValueText::Kind::null; }

  const Expectation* expected_of(const Bound& bound) const {
    for (const Expectation& expected : expectations_) {
      const bool is_whole = !expected.element && !expected.sums_result;
      if (is_whole && is_named(bound, expected.result)) return &expected;
    }
    return nullptr;
  }
  static bool is_named(const Bound& bound, const std::string& name) {
    return bound.parameter->name == name ||
           (is_numbered(*bound.parameter) && std::to_string(bound.parameter->index) == name);
  }

  void make(Bound& bound) {
    const Parameter& parameter = *bound.parameter;
    const std::string label = parameter.label();
    if (parameter.kind == Parameter::Kind::sampler) {
      bound.bytes = make_sampler(label, bound.text.text);
      return;
    }
    if (parameter.kind == Parameter::Kind::threadgroup) {
      if (bound.text.kind == ValueText::Kind::shared) return;
      throw ArgumentError(
          fmt::format("{}: is threadgroup memory; give its bytes, as in shared:4096", label));
    }
    if (parameter.kind == Parameter::Kind::value) {
      bound.bytes = make_value(label, bound.text, *parameter.type);
      return;
    }
    if (is_null(bound)) return;
    const std::uint64_t seed =
        request_.seed + 1000 * static_cast<std::uint64_t>(&bound - bound_.data());
    bound.array = parameter.kind == Parameter::Kind::texture
                      ? make_texture(label, bound.text, texture_of(bound), seed)
                      : make_array(label, bound.text, parameter.type->element, seed);
  }

  static TextureType texture_of(const Bound& bound) {
    return parse_texture_type(bound.parameter->type->name).value_or(TextureType{});
  }

  const Bound& find(const std::string& name) const {
    for (const Bound& bound : bound_) {
      if (is_named(bound, name)) return bound;
    }
    throw ArgumentError(
        fmt::format("--expect: kernel {} has no parameter '{}'", kernel_.name, name));
  }

  Operands operands(const std::vector<Result>* results = nullptr) const {
    const auto before = [this](const std::string& name) -> const Array& {
      const Bound& bound = find(name);
      if (bound.array) return *bound.array;
      throw ArgumentError(fmt::format("--expect: '{}' is not an array with a shape", name));
    };
    const auto after = [this, results](const std::string& name) -> const Array& {
      const Bound& bound = find(name);
      for (const Result& result : *results) {
        if (result.name == bound.parameter->label()) return result.array;
      }
      throw ArgumentError(fmt::format("--expect: the kernel does not write '{}'", name));
    };
    const auto number = [this](const std::string& name) {
      const Bound& bound = find(name);
      const std::vector<Leaf> all = leaves(*bound.parameter->type);
      if (bound.bytes.empty() || all.size() != 1 || all.front().address != nullptr) {
        throw ArgumentError(fmt::format("--expect: '{}' is not a number", name));
      }
      return static_cast<double>(any_kernel::load(all.front().scalar, bound.bytes.data()));
    };
    return {before, after, number};
  }

  /// Judges results that no kernel has computed: an expectation that does not fit is an error of
  /// usage, and must not wait for the launch.
  void check_expectations() const {
    std::vector<Result> results;
    for (const Bound& bound : bound_) {
      if (is_writable(bound)) results.push_back({bound.parameter->label(), *bound.array, 0});
    }
    for (const Expectation& expected : expectations_) {
      result_shape(expected, operands());
      operands(&results).after(expected.result);
    }
  }

  /// Structs come last, because they have the addresses of their members.
  void upload_all(LoadedKernel& loaded) {
    for (std::size_t i = bound_.size(); i < loaded.buffers.size(); ++i) {
      if (loaded.buffers[i].first != 0) loaded.memory.free(loaded.buffers[i].first);
    }
    loaded.buffers.resize(bound_.size());
    std::vector<bool> is_owner(bound_.size());
    for (const Bound& bound : bound_) {
      if (bound.owner != Bound::no_owner) is_owner[bound.owner] = true;
    }
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (!is_owner[i]) upload(loaded, i);
    }
    for (const Bound& bound : bound_) {
      if (bound.owner != Bound::no_owner) store_address(bound);
    }
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (is_owner[i]) upload(loaded, i);
    }
  }

  void store_address(const Bound& member) {
    Bound& owner = bound_[member.owner];
    std::byte* to = owner.bytes.data();
    if (owner.bytes.empty())
      to = owner.given != nullptr ? owner.given->bytes.data() : owner.array->bytes.data();
    const std::uint64_t address = member.passed_address();
    std::memcpy(to + member.member_offset, &address, sizeof address);
  }

  void upload(LoadedKernel& loaded, std::size_t index) {
    Bound& bound = bound_[index];
    if (bound.given != nullptr && bound.given->kind == GivenValue::Kind::alias) {
      bound.address = bound_.at(bound.given->buffer).address;
    }
    if (!bound.array) return;
    const std::span<const std::byte> bytes = bound.contents();
    bound.address = buffer_for(loaded, index, bytes.size());
    if (bound.parameter->kind == Parameter::Kind::texture) upload_descriptor(loaded, bound);
    if (bytes.empty()) return;
    if (bound.array->is_written) {
      loaded.memory.write(bound.address, bytes.data(), bytes.size());
      loaded.memory.find(bound.address)->read_only =
          bound.given != nullptr && bound.given->is_read_only;
      return;
    }
    // the pattern, without noting that it was written
    std::byte* const data = loaded.memory.find(bound.address)->data(bound.address);
    if (bound.given != nullptr) {
      std::memset(data, std::to_integer<int>(poison), bytes.size());
    } else {
      std::memcpy(data, bytes.data(), bytes.size());
    }
  }

  static void upload_descriptor(LoadedKernel& loaded, Bound& bound) {
    const std::vector<std::byte> bytes =
        texture_descriptor(texture_of(bound), bound.array->shape, bound.address);
    bound.descriptor = loaded.memory.allocate(bytes.size(), "a texture's descriptor");
    loaded.memory.write(bound.descriptor, bytes.data(), bytes.size());
  }

  /// The parameter's buffer of the previous launch, if it has the size and any of its bytes may have been
  /// written.
  std::uint64_t buffer_for(LoadedKernel& loaded, std::size_t index, std::size_t bytes) const {
    auto& [address, known] = loaded.buffers[index];
    const Bound& bound = bound_[index];
    const bool is_parameters = bound.owner == Bound::no_owner;
    if (is_parameters && address != 0 && known == bytes && bound.array->is_written) return address;
    if (address != 0) loaded.memory.free(address);
    known = bytes;
    return address = loaded.memory.allocate(bytes, argument_word + bound.parameter->label());
  }

  vgpu::LaunchOptions launch_options() const {
    vgpu::LaunchOptions options;
    options.grid = request_.groups;
    options.block = request_.group;
    options.grid_threads = request_.threads;
    options.dynamic_shared = request_.dynamic_shared;
    options.cooperative = true;  // a kernel may wait for its whole grid
    options.observe = request_.observe;
    options.instruction_limit = request_.instruction_limit;
    options.watcher = vgpu::access_watcher();
    options.threads = request_.cpu_threads;
    return options;
  }

  void lay_out_threadgroup_memory(LoadedKernel& loaded, vgpu::LaunchOptions& options) const {
    metal::ThreadgroupMemory bytes{};
    bool any = false;
    for (const Bound& bound : bound_) {
      if (bound.parameter->kind != Parameter::Kind::threadgroup) continue;
      bytes.at(static_cast<std::size_t>(bound.parameter->index)) = bound.text.bytes;
      any = true;
    }
    if (any) metal::lay_out(bytes, *loaded.module, loaded.memory, options);
  }

  std::vector<std::byte> parameter_bytes(const vgpu::Kernel& loaded) const {
    const vgpu::KernelInfo& info = vgpu::info(loaded);
    std::vector<std::byte> bytes(info.parameter_bytes);
    for (const Bound& bound : bound_) {
      if (bound.parameter->entry < 0) continue;
      const auto& place = info.parameters.at(static_cast<std::size_t>(bound.parameter->entry));
      const bool is_value = !bound.bytes.empty();
      const std::uint64_t address = bound.passed_address();
      const void* const from = is_value ? static_cast<const void*>(bound.bytes.data()) : &address;
      const std::size_t size = is_value ? bound.bytes.size() : sizeof address;
      std::memcpy(bytes.data() + place.offset, from, std::min(size, place.bytes));
    }
    return bytes;
  }

  Result download(const vgpu::DeviceMemory& memory, const Bound& bound) const {
    Result result{bound.parameter->label(), *bound.array, 0};
    const std::span<std::byte> bytes =
        bound.is_given_buffer() ? bound.given->bytes : std::span<std::byte>(result.array.bytes);
    if (bytes.empty()) return result;
    memory.read(bytes.data(), bound.address, bytes.size());
    const bool is_given_texture = bound.given != nullptr && !bound.is_given_buffer();
    if (is_given_texture) store_texels(result.array, elements_of(*bound.given), bound.given->bytes);
    result.is_changed = bound.given != nullptr || !bound.array->is_written ||
                        result.array.bytes != bound.array->bytes;
    const vgpu::Allocation& allocation = *memory.find(bound.address);
    if (bound.array->is_written || allocation.all_initialised || !request_.observe) return result;
    const std::uint8_t* const shadow = allocation.shadow(bound.address);
    const std::size_t each = result.array.element->bytes;
    for (std::size_t at = 0; at < bytes.size(); at += each)
      result.unwritten += shadow[at] == 0 ? 1 : 0;
    return result;
  }

  /// A hazard's text in the words of the kernel's language, with "C[4]" for an address of an
  /// argument: by index instead of by bytes.
  std::string named(const std::string& text, bool is_metal) const {
    static const std::regex address(R"(argument (\w+(?:[.[]\w+\]?)*)( ([+-]) (\d+))?)");
    const auto in_words = [is_metal](const std::string& part) {
      const std::string readable = emu::with_readable_names(part);
      return is_metal ? emu::in_metal_words(readable) : readable;
    };
    std::string result;
    auto rest = text.cbegin();
    for (std::smatch match; std::regex_search(rest, text.cend(), match, address);
         rest = match.suffix().first) {
      result += in_words({rest, match[0].first});
      result += index_text(find(match[1]), match[3] == "-", match[4]);
    }
    return result + in_words({rest, text.cend()});
  }

  static std::string index_text(const Bound& bound, bool before, const std::string& bytes) {
    const std::int64_t offset = bytes.empty() ? 0 : std::stoll(bytes);
    const auto each =
        static_cast<std::int64_t>(std::max<std::size_t>(1, bound.array->element->bytes));
    const std::int64_t index = before ? -((offset + each - 1) / each) : offset / each;
    const std::int64_t within = before ? 0 : offset % each;
    std::string text = fmt::format("{}[{}]", bound.parameter->label(), index);
    if (within != 0) text += fmt::format(" + {} bytes", within);
    const Shape& shape = bound.array->shape;
    text += fmt::format(", parameter {} of {}{} {}", bound.parameter->label(), to_text(shape),
                        shape.size() > 1 ? fmt::format(" = {}", count(shape)) : "",
                        bound.array->element->name);
    const bool has_no_shape =
        bound.text.kind == ValueText::Kind::fill && bound.text.shape.empty() && count(shape) == 1;
    if (has_no_shape && index != 0) {
      text += fmt::format(" ('{}' gives no shape: write it, as in {}:1024)", bound.text.text,
                          bound.text.text);
    }
    return text;
  }

  void name_hazards(vgpu::LaunchReport& report, bool is_metal) const {
    for (vgpu::Hazard& hazard : report.hazards) {
      hazard.message = named(hazard.message, is_metal);
      hazard.address = named(hazard.address, is_metal);
    }
  }

  void judge_results(Outcome& outcome) const {
    for (const Expectation& expected : expectations_) {
      outcome.judgements.push_back(judge(expected, operands(&outcome.results), request_.tolerance));
    }
  }

  const Kernel& kernel_;
  const LaunchRequest& request_;
  std::vector<Expectation> expectations_;
  std::vector<Bound> bound_;  // in the order of the kernel's parameters; then members of structs
  std::deque<Parameter> members_;
};

}  // namespace

Parameter member_parameter(const Parameter& owner, const Leaf& leaf) {
  Parameter member;
  const bool is_texture = parse_texture_type(leaf.address->name).has_value();
  member.kind = is_texture ? Parameter::Kind::texture : Parameter::Kind::buffer;
  member.name = fmt::format("{}.{}", owner.label(), leaf.name);
  member.type = leaf.address;
  member.index = member.entry = -1;
  return member;
}

const Result& find_result(const Kernel& kernel, const Outcome& outcome, const std::string& name) {
  const bool is_member = name.find('.') != name.npos;
  const std::string label = is_member ? name : find_parameter(kernel, name).label();
  for (const Result& result : outcome.results) {
    if (result.name == label) return result;
  }
  throw ArgumentError(fmt::format("{}: the kernel does not write this parameter", name));
}

bool fails(const vgpu::Hazard& hazard) { return hazard.kind != vgpu::HazardKind::same_value; }

bool Outcome::is_right() const {
  return std::ranges::none_of(report.hazards, fails) && !report.fault &&
         std::ranges::all_of(judgements, &Judgement::right);
}

LoadedKernel::LoadedKernel(const Program& program, const Kernel& from,
                           const vgpu::DeviceDescription& device, const LoadedKernel* beside)
    : is_metal(program.is_metal),
      shared_memory(beside != nullptr ? beside->shared_memory
                                      : std::make_shared<vgpu::DeviceMemory>(
                                            static_cast<std::size_t>(device.memory_bytes))),
      memory(*shared_memory) {
  try {
    if (beside != nullptr) {
      module = beside->module;
    } else {
      module = vgpu::Module::load(program.ptx, program.file_name(), memory);
    }
    kernel = module->kernel(from.symbol);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", from.name, error.what()));
  }
  if (kernel == nullptr) throw std::runtime_error(fmt::format("{}: not in the PTX", from.name));
}

Outcome launch(const Program& program, const Kernel& kernel, const LaunchRequest& request) {
  Launch launch(kernel, request);
  LoadedKernel loaded(program, kernel, request.device);
  return launch.run(loaded);
}

Outcome launch(LoadedKernel& loaded, const Kernel& kernel, const LaunchRequest& request) {
  return Launch(kernel, request).run(loaded);
}

}  // namespace rung::any_kernel
