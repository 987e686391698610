# Adds the files that Debian's policy requires in each package beyond cmake --install: a copyright file, a
# changelog, compressed man pages, and no RUNPATH. CPack runs this on the staged components.

if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Like gzip -9n: builds are reproducible.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(set_permissions)
  file(GLOB_RECURSE files LIST_DIRECTORIES false ${ARGN})
  foreach(file IN LISTS files)
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()
endfunction()

file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(doc ${root}/share/doc/${package})
  file(WRITE ${doc}/copyright
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
    "Upstream-Name: rung\n\nFiles: *\nCopyright: 2026 The authors of Rung\nLicense: Apache-2.0\n"
    " On Debian systems, the full text of the Apache License, Version 2.0, is in\n"
    " /usr/share/common-licenses/Apache-2.0.\n")
  file(WRITE ${doc}/changelog.Debian
    "rung (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * See changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  configure_file(${CPACK_RUNG_CHANGELOG} ${doc}/changelog COPYONLY)
  compress(${doc}/changelog)
  compress(${doc}/changelog.Debian)
  file(GLOB pages ${root}/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    compress(${page})
  endforeach()
  set_permissions(${root}/share/*)
  file(GLOB libraries ${root}/lib/librung*.so.* ${root}/lib/*/librung*.so.*)
  foreach(library IN LISTS libraries)
    if(NOT IS_SYMLINK ${library})
      file(RPATH_REMOVE FILE ${library})  # what ldconfig finds needs none
    endif()
  endforeach()
endforeach()
