#include "report_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/dtype_traits.hpp"
#include "progress.hpp"
#include "tools/report/page/page.hpp"
#include "tools/report/page/site.hpp"
#include "tools/report/study.hpp"

namespace rung {
namespace {

struct Wanted {
  const RungInfo* rung;
  Dtype dtype;
  cuda::GemmSize measured;
};

/// If there are several problems, that of the ladder, which a reader sees first.
const Result* measured_of(const std::string& id, const std::vector<Study>& studies) {
  const Result* any = nullptr;
  for (const Study& study : studies) {
    for (const Result* result : study.ladder()) {
      if (result->rung == id) return result;
    }
    for (const Result* result : study.entries()) {
      if (any == nullptr && result->rung == id && result->timed()) any = result;
    }
  }
  return any;
}

std::vector<Wanted> wanted_traces(const Results& results) {
  const std::vector<Study> studies = studies_of(results);
  std::vector<Wanted> wanted;
  for (const RungInfo& rung : catalog()) {
    const Result* result = is_for(rung, "cpu") ? nullptr : measured_of(rung.id, studies);
    if (result == nullptr) continue;
    const auto dtype = std::find_if(all_dtypes.begin(), all_dtypes.end(),
                                    [&](Dtype known) { return name(known) == result->dtype; });
    if (dtype == all_dtypes.end()) continue;
    wanted.push_back({&rung, *dtype, {result->m, result->n, result->k}});
  }
  return wanted;
}

}  // namespace

Traces trace_rungs(const Results& results, const DeviceOptions& options) {
  const RungTracer tracer(options);
  const std::vector<Wanted> wanted = wanted_traces(results);
  Traces traces;
  Progress progress;
  for (const auto& [rung, dtype, measured] : wanted) {
    const double done = static_cast<double>(traces.size()) / static_cast<double>(wanted.size());
    progress.show("tracing " + rung->id, "rungs", done);
    traces[rung->id] = tracer.trace(*rung, dtype, measured);
  }
  return traces;
}

void write_site(const std::string& folder, const Results& results, const Traces& traces) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const PageFile& page : report_site(results, traces)) {
    OutputFile((std::filesystem::path(folder) / page.name).string()).write(page.contents);
  }
}

void write_pictures(const std::string& folder, const Results& results, const Traces& traces) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const PictureFile& picture : report_pictures(results, traces)) {
    OutputFile((std::filesystem::path(folder) / picture.name).string()).write(picture.contents);
  }
}

}  // namespace rung
