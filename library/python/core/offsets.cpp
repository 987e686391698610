#include "offsets.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "operands.hpp"

namespace rung::python {
namespace {

nb::object interop(const char* name) { return nb::module_::import_("rung._interop").attr(name); }

}  // namespace

Offsets::Offsets(const char* function, nb::handle given, nb::handle a, bool a_is_on_gpu,
                 nb::handle stream, void* launch)
    : function_(function), a_(a), stream_(stream), launch_(launch) {
  nb::object found = interop("offsets")(given, a_is_on_gpu, stream);
  if (nb::isinstance<nb::list>(found)) {
    read(std::move(found));
  } else {
    import(std::move(found));
  }
}

std::int64_t Offsets::count() const {
  return are_on_gpu() ? device_->array.shape[0] : static_cast<std::int64_t>(host_.size());
}

void Offsets::check_count(std::int64_t matrices) const {
  if (count() == matrices + 1) return;
  fail_in(function_, "there are " + std::to_string(count()) + " offsets; b has " +
                         std::to_string(matrices) + " matrices, which need " +
                         std::to_string(matrices + 1));
}

void Offsets::check(std::int64_t last, const char* counted) const {
  if (are_on_gpu() ||
      (host_.front() == 0 && host_.back() == last && std::is_sorted(host_.begin(), host_.end()))) {
    return;
  }
  fail_in(function_, "the offsets are " + nb::cast<std::string>(nb::str(list_)) +
                         "; they must ascend from 0 to the " + std::to_string(last) + " " +
                         counted + " of a");
}

const std::int32_t* Offsets::on_host() {
  if (host_.empty()) read(nb::list(interop("offsets")(kept_, false, stream_)));
  return host_.data();
}

const std::int32_t* Offsets::on_gpu() {
  if (!are_on_gpu()) import(interop("offsets_beside")(a_, list_, stream_));
  return static_cast<const std::int32_t*>(device_->array.data);
}

void Offsets::read(nb::object list) {
  list_ = std::move(list);
  for (const nb::handle each : list_) {
    std::int32_t offset = 0;
    if (!nb::try_cast(each, offset) || offset < 0) {
      fail_in(function_, "an offset is " + nb::cast<std::string>(nb::repr(each)) +
                             "; it must be from 0 to 2147483647");
    }
    host_.push_back(offset);
  }
  if (host_.empty()) {
    fail_in(function_, "there are no offsets; one more than there are groups is needed");
  }
}

void Offsets::import(nb::object array) {
  kept_ = std::move(array);
  const Array& offsets = device_.emplace("offsets", kept_, access_of(kept_), launch_).array;
  if (offsets.ndim == 1 && offsets.shape[0] > 0 && offsets.dtype == RUNG_DTYPE_I32) return;
  fail_in(function_, "offsets is " + shape_text(offsets) + " of " + dtype_name(offsets.dtype) +
                         "; it must have one dimension and at least one element");
}

}  // namespace rung::python
