# Packs ${build} as .deb, unpacks the packages into one folder, and uses the unpacked files: a consumer found by
# pkg-config, and the command. If lintian is installed, it must find no errors.

include(${source}/tests/install/run.cmake)

file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
run(${CMAKE_COMMAND} -E chdir ${work} ${cpack} --config ${build}/CPackConfig.cmake -G DEB -B ${work}
  -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)  # since xz is slow
file(GLOB packages ${work}/*.deb)
set(names)
foreach(package IN LISTS packages)
  run(dpkg-deb -f ${package} Package)
  string(STRIP "${said}" name)
  list(APPEND names ${name})
  run(dpkg-deb -x ${package} ${work}/root)
  if(name STREQUAL "librung-dev")
    run(dpkg-deb -f ${package} Depends)
    if(NOT said MATCHES "librung[0-9.]+ \\(= ${version}-1\\)")
      message(FATAL_ERROR "librung-dev depends on: ${said}")
    endif()
  endif()
endforeach()
list(SORT names)
if(NOT names MATCHES "^librung-dev;librung[0-9.]+;rung$")
  message(FATAL_ERROR "the packages are ${names}")
endif()

# A consumer of the development files.
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
file(GLOB_RECURSE pc ${work}/root/usr/lib/*rung.pc)
get_filename_component(folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(${pkg_config} --cflags --libs rung)
separate_arguments(flags UNIX_COMMAND "${said}")
get_filename_component(libraries ${folder} DIRECTORY)
run(${cxx} -std=c++20 ${source}/tests/install/consumer/consumer.cpp ${flags} -Wl,-rpath,${libraries}
  -o ${work}/consumer)
expect_output(${work}/consumer)

# The command, its man pages and its completion.
run(${work}/root/usr/bin/rung --version)
if(NOT said STREQUAL "rung ${version}\n")
  message(FATAL_ERROR "rung --version said: ${said}")
endif()
foreach(file man/man1/rung.1.gz man/man1/rung-bench.1.gz bash-completion/completions/rung
    zsh/site-functions/_rung fish/vendor_completions.d/rung.fish doc/rung/copyright
    doc/rung/changelog.Debian.gz)
  if(NOT EXISTS ${work}/root/usr/share/${file})
    message(FATAL_ERROR "package rung lacks /usr/share/${file}")
  endif()
endforeach()

find_program(lintian lintian)
if(lintian)
  # libcudart_static.a and libcudadevrt.a are linker scripts, but lintian treats them as archives. Checking the
  # spelling in programs takes half of lintian's time and never reports errors.
  execute_process(COMMAND ${lintian} --allow-root --fail-on error
    --suppress-tags unpack-message-for-deb-data
    --dont-check-part binaries/spelling ${packages}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "lintian finds errors:\n${said}")
  endif()
endif()
message("packed, unpacked and used: ${names}")
