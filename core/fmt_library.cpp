// The functions of {fmt} (cmake/Fmt.cmake).

#include <fmt/format-inl.h>

#include <locale>

// Templates that the headers leave to the library.
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(
    fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl(fmt::detail::locale_ref);
template std::locale fmt::detail::locale_ref::get() const;
