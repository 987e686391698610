// {fmt}'s functions, for programs that must not need libfmt.so: distributions package no static library of it. As
// headers alone (FMT_HEADER_ONLY), each source that formats would compile them.

#include <fmt/format-inl.h>

#include <locale>

// Templates that the headers leave to the library.
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(
    fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl(fmt::detail::locale_ref);
template std::locale fmt::detail::locale_ref::get() const;
