// The kernels that a Python process compiles and launches. Requests and replies are messages on a stream
// socket: Head, JSON, then bytes, the values of a launch's parameters one after the other. A reply to a
// launch returns the bytes of the results in the same order.

#include "serve_kernels.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <thread>

#include "emu/compile/toolchain.hpp"
#include "emu/reports/launch_json.hpp"
#include "run.hpp"
#include "tools/analysis/launch_watch.hpp"
#include "tools/any_kernel/launch.hpp"
#include "tools/any_kernel/program.hpp"
#include "tools/report/explanation.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/trace.hpp"
#include "vgpu/schedule.hpp"

namespace rung {
namespace {

using any_kernel::ArgumentError;
using any_kernel::GivenValue;
using any_kernel::Parameter;

struct Head {
  std::uint32_t json = 0;      // bytes
  std::uint32_t is_quiet = 1;  // of a reply: nothing failed and nothing was printed
  std::uint64_t payload = 0;   // bytes
};

/// A stream socket. The other end may close it at any time.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}

  /// Returns false at the end of the stream.
  bool receive(void* to, std::size_t bytes) const {
    for (char* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t got = recv(socket_, at, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  void send(const void* from, std::size_t bytes) const {
    for (const char* at = static_cast<const char*>(from); bytes > 0;) {
      const ssize_t sent = ::send(socket_, at, bytes, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return;  // receive() finds that the other end is closed
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  }

 private:
  int socket_;
};

/// While an object lives, this process and its children write standard error to a file.
class KeptErrors {
 public:
  KeptErrors() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
    if (file_ != nullptr) dup2(fileno(file_), STDERR_FILENO);
  }
  ~KeptErrors() { restore(); }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

  std::string text() {
    std::string text;
    if (file_ == nullptr) return text;
    std::fflush(stderr);
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text += static_cast<char>(c);
    return text;
  }

 private:
  void restore() const {
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    if (file_ != nullptr) std::fclose(file_);
  }

  std::FILE* file_;
  int saved_;
};

Json scalar_json(const any_kernel::Type& type) {
  const auto scalar = any_kernel::common_scalar(type);
  return scalar ? Json(name(*scalar)) : Json(nullptr);
}

/// {"label", "kind", "type", "const", "bytes", "scalar", "fields": [[name, offset, scalar]], "members"} of the
/// value, or of an element of the buffer. `scalar` is null if the fields differ; that of a pointer is null. `members`
/// has the same of each pointer or texture among the fields, by name.
Json signature_json(const Parameter& parameter) {
  constexpr const char* kinds[] = {"buffer", "value", "threadgroup", "texture", "sampler"};
  const any_kernel::Type* const type =
      parameter.type->is_address() ? parameter.type->element.get() : parameter.type.get();
  Json json = {{"label", parameter.label()},
               {"kind", kinds[static_cast<std::size_t>(parameter.kind)]},
               {"type", parameter.type->name},
               {"const", parameter.type->to_const},
               {"optional", parameter.is_optional},
               {"bytes", type == nullptr ? 0 : type->bytes},
               {"scalar", type == nullptr ? Json(nullptr) : scalar_json(*type)},
               {"fields", Json::array()},
               {"members", Json::object()}};
  if (type == nullptr) return json;
  for (const any_kernel::Leaf& leaf : any_kernel::leaves(*type)) {
    const Json scalar = leaf.address != nullptr ? Json(nullptr) : Json(name(leaf.scalar));
    json["fields"].push_back({leaf.name, leaf.offset, scalar});
    if (leaf.address == nullptr) continue;
    json["members"][leaf.name] = signature_json(any_kernel::member_parameter(parameter, leaf));
  }
  return json;
}

vgpu::Dim3 extents(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
          json.at(2).get<std::uint32_t>()};
}

/// ["value", bytes], ["buffer", bytes, shape, is_written, is_result, offset] with is_read_only at the end or not, ["alias", parameter, offset],
/// ["threadgroup", bytes], ["texture", bytes, shape, is_written, is_result, 0, type], ["sampler", properties] or
/// ["null"]. Takes its bytes from `payload`.
GivenValue given_value(const Json& json, std::span<std::byte>& payload) {
  const auto kind = json.at(0).get<std::string>();
  GivenValue value;
  if (kind == "null") return value;
  if (kind == "sampler") {
    value.kind = GivenValue::Kind::sampler;
    value.text = json.at(1);
    return value;
  }
  const auto number = json.at(1).get<std::size_t>();
  if (kind == "threadgroup" || kind == "alias") {
    value.kind = kind == "alias" ? GivenValue::Kind::alias : GivenValue::Kind::threadgroup;
    value.buffer = number;
    value.offset = kind == "alias" ? json.at(2).get<std::uint64_t>() : number;
    return value;
  }
  value.kind = kind == "value"    ? GivenValue::Kind::value
               : kind == "buffer" ? GivenValue::Kind::buffer
                                  : GivenValue::Kind::texture;
  if (number > payload.size()) throw ArgumentError("the values are longer than the message");
  value.bytes = payload.first(number);
  payload = payload.subspan(number);
  if (kind != "value") {
    value.shape = json.at(2).get<any_kernel::Shape>();
    value.is_written = json.at(3).get<bool>();
    value.is_result = json.at(4).get<bool>();
    value.offset = json.at(5).get<std::uint64_t>();
    if (kind == "texture") value.text = json.at(6);
    value.is_read_only = kind == "buffer" && json.size() > 6 && json.at(6).get<bool>();
  }
  return value;
}

/// While an object lives, launches run in the order of a seed (vgpu/schedule.hpp).
class Order {
 public:
  explicit Order(std::uint64_t seed) : is_random_(seed != 0) {
    if (is_random_) vgpu::set_schedule(seed);
  }
  ~Order() {
    if (is_random_) vgpu::set_schedule(0);
  }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

 private:
  bool is_random_;
};

class Server {
 public:
  explicit Server(int socket) : channel_(socket) {}

  void run() {
    for (Head head; channel_.receive(&head, sizeof head);) {
      std::string text(head.json, '\0');
      payload_.resize(head.payload);
      if (!channel_.receive(text.data(), text.size()) ||
          !channel_.receive(payload_.data(), payload_.size())) {
        return;
      }
      results_.clear();
      is_quiet_ = true;
      reply(answer(Json::parse(text)));
    }
  }

 private:
  struct Served {
    any_kernel::Program program;
    const any_kernel::Kernel* kernel = nullptr;
    vgpu::DeviceDescription device;
    std::unique_ptr<any_kernel::LoadedKernel> loaded;
  };
  struct Launched {
    const Served* kernel = nullptr;
    any_kernel::Outcome outcome;
  };

  void reply(const Json& json) const {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    Head head{static_cast<std::uint32_t>(text.size()), is_quiet_ ? 1u : 0u, 0};
    for (const std::span<std::byte> result : results_) head.payload += result.size();
    channel_.send(&head, sizeof head);
    channel_.send(text.data(), text.size());
    for (const std::span<std::byte> result : results_) channel_.send(result.data(), result.size());
  }

  Json answer(const Json& request) {
    const auto error = [this](const char* kind, const std::string& message) -> Json {
      results_.clear();
      is_quiet_ = false;
      return {{"error", kind}, {"message", message}};
    };
    try {
      if (request.contains("path")) return compile(request);
      if (request.contains("forget")) return forget(request);
      if (request.contains("ptx")) return ptx(*served_.at(request.at("ptx").get<int>()));
      if (request.contains("report")) return report(runs_.at(request.at("report").get<int>()));
      return launch(request);
    } catch (const emu::CompileError& failed) {
      return error("compile", failed.what());
    } catch (const emu::MissingTool& missing) {
      Json json = error("missing", missing.what());
      json["arch"] = arch_;  // for another compiler
      return json;
    } catch (const ArgumentError& wrong) {
      return error("argument", wrong.what());
    } catch (const std::exception& other) {
      return error("other", other.what());
    }
  }

  /// {"path", "kernel", "gpu", "options": […], "constants": {name: value}}, and "source": the file that PTX was made of,
  /// "names": those of its parameters, which PTX has not; "beside": a kernel whose variables it shares.
  Json compile(const Json& request) {
    auto served = std::make_unique<Served>();
    try {
      served->device = vgpu::parse_device(request.at("gpu").get<std::string>());
    } catch (const std::invalid_argument& wrong) {
      throw ArgumentError(fmt::format("gpu: {}", wrong.what()));
    }
    any_kernel::ProgramRequest wanted;
    wanted.path = request.at("path").get<std::string>();
    wanted.kernel = request.at("kernel").get<std::string>();
    wanted.options = request.at("options").get<std::vector<std::string>>();
    wanted.arch = arch_ = served->device.arch();
    for (const auto& [name, value] : request.at("constants").items()) {
      wanted.arguments.emplace_back(name, value.get<std::string>());
    }
    KeptErrors errors;
    try {
      served->program = any_kernel::compile_program(wanted);
    } catch (const emu::CompileError& failed) {
      throw emu::CompileError(errors.text() + failed.what());
    }
    if (request.contains("source")) {
      served->program.path = request.at("source").get<std::string>();
      std::ifstream file(served->program.path, std::ios::binary);
      served->program.text.assign(std::istreambuf_iterator<char>(file), {});
    }
    const auto names = request.value("names", std::vector<std::string>{});
    for (any_kernel::Kernel& kernel : served->program.kernels) {
      if (kernel.symbol != wanted.kernel || kernel.parameters.size() != names.size()) continue;
      for (std::size_t i = 0; i < names.size(); ++i) kernel.parameters[i].name = names[i];
    }
    const std::vector<any_kernel::Kernel>& kernels = served->program.kernels;
    if (wanted.kernel.empty() && kernels.size() > 1) {
      throw ArgumentError(fmt::format("{} has {} kernels, such as {}; name one",
                                      served->program.file_name(), kernels.size(),
                                      kernels.front().name));
    }
    served->kernel = &served->program.find(wanted.kernel);
    const auto other = served_.find(request.value("beside", 0));
    const bool is_beside = other != served_.end() &&
                           other->second->program.ptx == served->program.ptx &&
                           other->second->device.name == served->device.name;
    served->loaded = std::make_unique<any_kernel::LoadedKernel>(
        served->program, *served->kernel, served->device,
        is_beside ? other->second->loaded.get() : nullptr);
    Json parameters = Json::array();
    for (const Parameter& parameter : served->kernel->parameters) {
      parameters.push_back(signature_json(parameter));
    }
    Json json = {{"id", ++last_},
                 {"name", served->kernel->name},
                 {"code", served->program.code},
                 {"device", served->device.name},
                 {"constants", served->program.constants},
                 {"warnings", errors.text()},
                 {"parameters", std::move(parameters)}};
    served_.emplace(last_, std::move(served));
    return json;
  }

  /// For {"ptx": kernel}, which a GPU shall run.
  static Json ptx(const Served& served) {
    return {{"ptx", served.program.ptx}, {"symbol", served.kernel->symbol}};
  }

  /// {"forget": [kernel], "runs": [run]}
  Json forget(const Json& request) {
    for (const Json& run : request.at("runs")) runs_.erase(run.get<int>());
    for (const Json& kernel : request.at("forget")) served_.erase(kernel.get<int>());
    return Json::object();
  }

  static Json report(const Launched& launched) {
    const any_kernel::Program& program = launched.kernel->program;
    const vgpu::LaunchReport& report = launched.outcome.report;
    auto lines = vgpu::by_line(report, vgpu::sites(*launched.kernel->loaded->kernel));
    add_text(lines, program.file_name(), program.text);
    Json json = emu::to_json(report, lines);
    json["right"] = launched.outcome.is_right();
    json["printed"] = report.printed;
    json["unwritten"] = Json::object();
    for (const any_kernel::Result& result : launched.outcome.results) {
      if (result.unwritten > 0) json["unwritten"][result.name] = result.unwritten;
    }
    return json;
  }

  /// {"kernel", "grid", "block", "threads", "shared", "cpu_threads", "given": […]}; "members": [[parameter, field]], whose
  /// values follow the parameters' in "given"; "limit": warp instructions,
  /// "schedule": the seed of an order, and "explain": GPU for an explanation instead of results, with "page": true as {"page": HTML}. Returns {"run"}, and the report if anything failed or was printed.
  Json launch(const Json& request) {
    Served& served = *served_.at(request.at("kernel").get<int>());
    any_kernel::LaunchRequest wanted;
    wanted.device = served.device;
    wanted.group = extents(request.at("block"));
    wanted.groups = extents(request.at("grid"));
    if (!request.at("threads").is_null()) wanted.threads = extents(request.at("threads"));
    wanted.dynamic_shared = request.at("shared").get<std::int64_t>();
    wanted.cpu_threads = request.at("cpu_threads").get<unsigned>();
    wanted.instruction_limit = request.value("limit", wanted.instruction_limit);
    std::span<std::byte> rest = payload_;
    for (const Json& each : request.at("given")) wanted.given.push_back(given_value(each, rest));
    for (const Json& each : request.value("members", Json::array())) {
      wanted.members.push_back({each.at(0).get<std::size_t>(), each.at(1).get<std::size_t>()});
    }
    if (request.contains("explain")) {
      return explain(served, wanted, request.at("explain"), request.value("page", false));
    }
    const Order order(request.value("schedule", std::uint64_t{0}));
    Launched launched{&served, any_kernel::launch(*served.loaded, *served.kernel, wanted)};
    for (const GivenValue& each : wanted.given) {
      if (each.is_result) results_.push_back(each.bytes);
    }
    const vgpu::LaunchReport& seen = launched.outcome.report;
    is_quiet_ = seen.hazards.empty() && seen.printed.empty();
    Json json = is_quiet_ ? Json::object() : report(launched);
    json["run"] = ++last_run_;
    runs_.emplace(last_run_, std::move(launched));
    return json;
  }

  static Json explain(Served& served, any_kernel::LaunchRequest& wanted, const Json& gpu,
                      bool with_page) {
    analysis::ExplainOptions options;
    options.gpu = gpu.get<std::string>();
    try {
      options.device = wanted.device = vgpu::parse_device(options.gpu);
    } catch (const std::invalid_argument& wrong) {
      throw ArgumentError(fmt::format("gpu: {}", wrong.what()));
    }
    std::optional<analysis::WatchedLaunch> seen;
    analysis::LaunchWatch watch(with_page);
    wanted.cpu_threads = 1;  // footprints are of blocks one after the other
    wanted.observer = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
      seen = watch.take(report, kernel);
    };
    any_kernel::launch(*served.loaded, *served.kernel, wanted);
    const any_kernel::Program& program = served.program;
    const std::string& name = served.kernel->name;
    const analysis::Explanation explanation = explanation_of(program, name, *seen, options);
    if (!with_page) return to_json(explanation);
    const Explained subject{name, "on a virtual " + options.device.name, nullptr, program.text};
    return {{"page", explanation_page(
                         subject, explanation, {},
                         {{name, "the launch", program.file_name(), program.text, seen->steps}})}};
  }

  Channel channel_;
  std::map<int, std::unique_ptr<Served>> served_;
  std::map<int, Launched> runs_;
  int last_ = 0, last_run_ = 0, arch_ = 0;
  std::vector<std::byte> payload_;             // of the request
  std::vector<std::span<std::byte>> results_;  // parts of payload_, for the reply
  bool is_quiet_ = true;
};

/// Ends this process when the other end of the socket has closed, also while a kernel runs.
void end_with_the_other(int socket) {
  std::thread([socket] {
    pollfd other{.fd = socket, .events = 0, .revents = 0};
    while (poll(&other, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(exit_right);
  }).detach();
}

}  // namespace

ExitCode serve_kernels(int socket) {
  end_with_the_other(socket);
  Server(socket).run();
  return exit_right;
}

}  // namespace rung
