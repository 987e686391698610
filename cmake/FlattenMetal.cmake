# cmake -D NAME=ladder/… -D ROOT=… -D OUTPUT=… -P FlattenMetal.cmake: writes the file of that name below
# the project's root to OUTPUT, with each of the project's device headers (.h) inserted where it is first
# included. Metal compiles this one text where the program runs. #line keeps file names and line numbers;
# OUTPUT.d lists the files that were read, for Ninja.

cmake_minimum_required(VERSION 3.22)

set(read)  # so far

# Sets `flattened`, and adds to `read`, of the caller.
function(flatten name)
  list(APPEND read ${name})
  file(READ "${ROOT}/${name}" rest)
  string(REPLACE "#pragma once" "" rest "${rest}")
  set(text "#line 1 \"${name}\"\n")
  set(line 1)
  while(rest MATCHES "#include \"(device/metal/[a-z_]+[.]h)\"\n")
    set(include "${CMAKE_MATCH_0}")
    set(header "kernels/${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${include}" at)
    string(SUBSTRING "${rest}" 0 ${at} before)
    string(LENGTH "${include}" length)
    math(EXPR after "${at} + ${length}")
    string(SUBSTRING "${rest}" ${after} -1 rest)
    string(REGEX MATCHALL "\n" ends "${before}${include}")
    list(LENGTH ends lines)
    math(EXPR line "${line} + ${lines}")
    set(flattened)
    if(NOT header IN_LIST read)
      flatten(${header})
    endif()
    string(APPEND text "${before}${flattened}#line ${line} \"${name}\"\n")
  endwhile()
  set(flattened "${text}${rest}" PARENT_SCOPE)
  set(read ${read} PARENT_SCOPE)
endfunction()

flatten(${NAME})
file(WRITE "${OUTPUT}" "${flattened}")
list(TRANSFORM read PREPEND "${ROOT}/")
list(JOIN read " " read)
file(WRITE "${OUTPUT}.d" "${OUTPUT}: ${read}\n")
