# rung_fmt: {fmt} as a static library, which distributions do not package. As headers alone (FMT_HEADER_ONLY), each source
# that formats would compile its functions.

find_package(fmt REQUIRED)
add_library(rung_fmt STATIC ${RUNG_ROOT}/core/fmt_library.cpp)
target_include_directories(rung_fmt PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
