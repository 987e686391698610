# Rules of `cmake --install`: headers, libraries, and the CMake package and pkg-config files. The
# components are `library`, `dev`, `tools` (the command line) and `python`.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rung)

install(TARGETS rung_library rung_blas rung_cublas EXPORT rung_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rung DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev PATTERN dist*.hpp EXCLUDE PATTERN nccl.h* EXCLUDE
  PATTERN tensor_parallel.hpp EXCLUDE)  # library/dist/CMakeLists.txt
install(EXPORT rung_targets NAMESPACE rung:: FILE rungTargets.cmake DESTINATION ${package_dir}
  COMPONENT dev)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/rungConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/rungConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/rungConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/rungConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/rungConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# rung.pc derives the prefix from its own location, so the installed tree is relocatable.
file(RELATIVE_PATH RUNG_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(NOT BUILD_SHARED_LIBS)
  set(RUNG_PC_STATIC " -llzma -lstdc++ -pthread -ldl -lm")  # a shared librung links these itself
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/rung.pc.in ${PROJECT_BINARY_DIR}/cmake/rung.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/rung.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT dev)
