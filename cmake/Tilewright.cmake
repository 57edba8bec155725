# The project's build conventions: language level, warnings, and the two functions that every folder uses.
# A library is a folder; a folder's tests are one program.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # TRY is a statement expression
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Hits across build folders and clones, and with precompiled headers.
  set(ccache_with_options ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "CCACHE_SLOPPINESS=pch_defines,time_macros" "${TILEWRIGHT_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache_with_options})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_with_options})
endif()

add_library(tw_options INTERFACE)
target_compile_options(tw_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror>
  -ffp-contract=off)
target_include_directories(tw_options INTERFACE
  "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
if(TILEWRIGHT_SANITIZE)
  target_compile_options(tw_options INTERFACE
    -fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tw_options INTERFACE -fsanitize=${TILEWRIGHT_SANITIZE})
endif()

# tw_library(NAME SOURCES ... [DEPS other tw libraries and targets ...] [PRECOMPILE headers ...]) makes the static library
# tw_NAME. PRECOMPILE is for folders of many small files: most of their time is the parsing of the same headers.
function(tw_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRECOMPILE" ${ARGN})
  add_library(tw_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(tw_${name} PUBLIC tw_options)
  if(ARG_PRECOMPILE)
    list(TRANSFORM ARG_PRECOMPILE PREPEND "${PROJECT_SOURCE_DIR}/src/")
    target_precompile_headers(tw_${name} PRIVATE ${ARG_PRECOMPILE})
  endif()
  foreach(dep ${ARG_DEPS})
    if(TARGET tw_${dep})
      target_link_libraries(tw_${name} PUBLIC tw_${dep})
    else()
      target_link_libraries(tw_${name} PUBLIC ${dep})
    endif()
  endforeach()
endfunction()

# tw_test(NAME SOURCES ... DEPS ... [LABELS ...]) makes the test program NAME_test of one folder.
function(tw_test name)
  if(NOT TILEWRIGHT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE tw_options GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE TW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  list(LENGTH ARG_SOURCES n_sources)
  if(n_sources GREATER 2)
    target_precompile_headers(${name}_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  foreach(dep ${ARG_DEPS})
    if(TARGET tw_${dep})
      target_link_libraries(${name}_test PRIVATE tw_${dep})
    else()
      target_link_libraries(${name}_test PRIVATE ${dep})
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900)
endfunction()
