#include "tools/kernel_file/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "emu/reports/launch_json.hpp"
#include "tools/kernel_file/loaded_file.hpp"

namespace rung {
namespace {

constexpr double max_virtual_multiply_adds = 0x1p20;  // per random problem; simulation is slow
constexpr double max_multiply_adds = 0x1p28;

/// The hazards of all launches, merged by kind and source locations.
class Hazards {
 public:
  void begin(std::string problem) {
    problem_ = std::move(problem);
    ++case_;
  }

  void see(const vgpu::LaunchReport& report) {
    for (const vgpu::Hazard& hazard : report.hazards) add(hazard);
    if (!report.fault) return;
    const std::string where =
        report.hazards.empty() ? "" : " at " + report.hazards.front().first.source;
    throw KernelError(fmt::format("the kernel was stopped by {}{}", vgpu::name(*report.fault),
                                  where == " at " ? "" : where));
  }

  std::vector<KernelHazard> take() {
    std::vector<KernelHazard> found;
    for (Seen& seen : seen_) found.push_back(std::move(seen.hazard));
    return found;
  }

 private:
  struct Seen {
    vgpu::HazardKind kind;
    std::string first, other;  // source locations
    int last_case;
    KernelHazard hazard;
  };

  void add(const vgpu::Hazard& hazard) {
    // A race in which the second write stores the same value is harmless: several threads set a
    // flag.
    if (hazard.kind == vgpu::HazardKind::same_value) return;
    const auto found = std::ranges::find_if(seen_, [&](const Seen& seen) {
      return seen.kind == hazard.kind && seen.first == hazard.first.source &&
             seen.other == hazard.other.source;
    });
    Seen& seen = found != seen_.end()
                     ? *found
                     : seen_.emplace_back(
                           Seen{hazard.kind,
                                hazard.first.source,
                                hazard.other.source,
                                0,
                                {vgpu::name(hazard.kind), emu::with_readable_names(hazard.message),
                                 hazard.first.source + "\n" + hazard.other.source, problem_}});
    seen.hazard.count += hazard.count;
    if (seen.last_case == case_) return;
    seen.last_case = case_;
    ++seen.hazard.cases;
  }

  std::string problem_;
  int case_ = 0;
  std::vector<Seen> seen_;
};

/// The case restricted to features that the signature can express.
GemmSpec expressed(GemmSpec spec, const Signature& signature) {
  using enum Role;
  if (!signature.has(scalars)) {
    const MatrixLayout layout = signature.layout.row_major();
    spec.a_transposed = layout.a_transposed;
    spec.b_transposed = layout.b_transposed;
  }
  const bool swapped = signature.layout.column_major;
  if (!signature.has(swapped ? ldb : lda)) spec.a_padding = 0;
  if (!signature.has(swapped ? lda : ldb)) spec.b_padding = 0;
  if (!signature.has(ldc)) spec.c_padding = 0;
  if (!signature.has(alpha)) spec.alpha = 1;
  if (!signature.has(beta)) spec.beta = 0;
  return spec;
}

DotSpec expressed(DotSpec spec, const Signature& signature) {
  using enum Role;
  spec.sum = signature.op == "sum";
  if (!signature.has(incx)) spec.incx = 1;
  if (!signature.has(incy)) spec.incy = 1;
  return spec;
}

std::vector<GemmSpec> gemm_cases(const Signature& signature, const CheckOptions& options) {
  std::vector<GemmSpec> specs = standard_gemm_cases(signature.dtype, Effort::quick);
  for (const auto& [m, n, k] : options.sizes) {
    GemmSpec spec;
    spec.dtype = signature.dtype;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    specs.push_back(spec);
  }
  const auto random = random_gemm_cases(
      signature.dtype, options.random,
      options.on_gpu ? max_multiply_adds : max_virtual_multiply_adds, options.seed);
  specs.insert(specs.end(), random.begin(), random.end());
  // CUDA rejects a launch without blocks.
  std::erase_if(specs, [](const GemmSpec& spec) { return spec.m == 0 || spec.n == 0; });
  for (GemmSpec& spec : specs) spec = expressed(spec, signature);
  return specs;
}

std::vector<DotSpec> dot_cases(const Signature& signature, const CheckOptions& options) {
  std::vector<DotSpec> specs = standard_dot_cases(signature.dtype, Accuracy::plain, Effort::quick);
  for (const auto& [m, n, k] : options.sizes) {
    DotSpec spec;
    spec.dtype = signature.dtype;
    spec.n = n;
    specs.push_back(spec);
  }
  const auto random =
      random_dot_cases(signature.dtype, Accuracy::plain, options.random, options.seed);
  specs.insert(specs.end(), random.begin(), random.end());
  std::erase_if(specs, [](const DotSpec& spec) { return spec.n == 0; });
  for (DotSpec& spec : specs) spec = expressed(spec, signature);
  return specs;
}

std::vector<std::string> left_out(const Signature& signature) {
  using enum Role;
  std::vector<std::string> left;
  const auto missing = [&](Role role, const char* what) {
    if (!signature.has(role)) left.emplace_back(what);
  };
  if (signature.op == "gemm") {
    missing(alpha, "alpha other than 1");
    missing(beta, "beta other than 0");
    missing(lda, "rows of A with gaps");
    missing(ldb, "rows of B with gaps");
    missing(ldc, "rows of C with gaps");
  } else {
    missing(incx, "increments of x");
    if (signature.op == "dot") missing(incy, "increments of y");
  }
  return left;
}

/// The features of a case that the simplest case lacks.
std::vector<std::string> features(const GemmSpec& spec) {
  std::vector<std::string> has;
  if (spec.alpha != 1) has.emplace_back("alpha other than 1");
  if (spec.beta != 0) has.emplace_back("beta other than 0");
  if (spec.a_padding != 0) has.emplace_back("rows of A with gaps");
  if (spec.b_padding != 0) has.emplace_back("rows of B with gaps");
  if (spec.c_padding != 0) has.emplace_back("rows of C with gaps");
  return has;
}

std::vector<std::string> features(const DotSpec& spec) {
  std::vector<std::string> has;
  if (spec.incx != 1) has.emplace_back("an increment of x other than 1");
  if (!spec.sum && spec.incy != 1) has.emplace_back("an increment of y other than 1");
  return has;
}

class Check {
 public:
  Check(const KernelFile& file, const CheckOptions& options)
      : file_(file), options_(options), backend_(open()) {
    if (const auto absent = backend_->absent()) throw std::runtime_error(*absent);
    loaded_ = load_file(file, *backend_);
    report_.device = backend_->device();
    report_.code = loaded_->code();
    report_.left_out = left_out(file.signature);
  }

  CheckReport run() {
    if (file_.signature.op == "gemm") {
      run_cases<GemmCase>(gemm_cases(file_.signature, options_), [&](const GemmCall& call) {
        loaded_->bind(call, options_.threads).batch.call();
      });
    } else {
      run_cases<DotCase>(dot_cases(file_.signature, options_), [&](const DotCall& call) {
        return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
          Out sum{};
          loaded_->bind(call, options_.threads, &sum).batch.call();
          add_result(std::bit_cast<std::uint64_t>(static_cast<double>(sum)));
          return static_cast<double>(sum);
        });
      });
    }
    drop_common();
    report_.hazards = hazards_.take();
    return std::move(report_);
  }

 private:
  std::unique_ptr<Backend> open() {
    if (options_.on_gpu) return make_gpu_backend(options_.device);
    const auto make = file_.is_metal() ? make_metal_virtual_backend : make_virtual_backend;
    report_.launches = 0;
    return make(options_.device,
                [this](const vgpu::LaunchReport& report, const vgpu::Kernel& /*kernel*/) {
                  ++*report_.launches;
                  hazards_.see(report);
                });
  }

  template <class Case, class Spec, class Run>
  void run_cases(const std::vector<Spec>& specs, const Run& run) {
    for (const Spec& spec : specs) {
      if (options_.progress) {
        options_.progress(report_.cases / static_cast<double>(specs.size()));
      }
      hazards_.begin(describe(spec));
      Case problem(spec);
      add(verify(problem, run), features(spec));
      if constexpr (std::is_same_v<Case, GemmCase>) add_result(problem.c().fingerprint());
    }
  }

  void add(const Verdict& verdict, const std::vector<std::string>& has) {
    ++report_.cases;
    for (const std::string& feature : has) ++cases_with_[feature];
    if (verdict.right) {
      report_.max_error_ratio = std::max(report_.max_error_ratio, verdict.max_error_ratio);
      return;
    }
    if (report_.wrong++ == 0) report_.common_to_wrong = has;
    std::erase_if(report_.common_to_wrong, [&](const std::string& feature) {
      return std::ranges::find(has, feature) == has.end();
    });
    if (report_.message.empty() || has.size() < fewest_features_) {
      report_.message = verdict.message;
      fewest_features_ = has.size();
    }
  }

  void add_result(std::uint64_t bits) {
    report_.digest = (std::rotl(report_.digest, 9) ^ bits) * 0x9E3779B97F4A7C15u;
  }

  /// Drops features that all cases have: they do not explain failures.
  void drop_common() {
    std::erase_if(report_.common_to_wrong, [&](const std::string& feature) {
      return cases_with_.at(feature) == report_.cases;
    });
  }

  const KernelFile& file_;
  const CheckOptions& options_;
  Hazards hazards_;
  CheckReport report_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const LoadedFile> loaded_;
  std::map<std::string, int> cases_with_;  // by feature
  std::size_t fewest_features_ = 0;        // of a failing case
};

}  // namespace

CheckReport check_kernel(const KernelFile& file, const CheckOptions& options) {
  return Check(file, options).run();
}

}  // namespace rung
