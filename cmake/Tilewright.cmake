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
  # g++ says of itself that instrumented code brings false warnings of this kind.
  target_compile_options(tw_options INTERFACE
    -fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)
  target_link_options(tw_options INTERFACE -fsanitize=${TILEWRIGHT_SANITIZE})
  set(TW_TEST_SECONDS 7200)  # whole models under a sanitizer, on a busy machine
else()
  set(TW_TEST_SECONDS 900)
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

# tw_links(TARGET LIBRARY OUT): whether TARGET links LIBRARY, of those that tw_library made, directly or not.
function(tw_links target library out)
  set(queue ${target})
  set(seen "")
  while(queue)
    list(POP_FRONT queue next)
    if(NOT TARGET ${next} OR next IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${next})
    get_target_property(below ${next} LINK_LIBRARIES)
    if(below)
      list(APPEND queue ${below})
    endif()
  endwhile()
  set(${out} FALSE PARENT_SCOPE)
  if(${library} IN_LIST seen)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# tw_test(NAME SOURCES ... DEPS ... [LABELS ...] [ONE_ISA] [OWN_MAIN]) makes the test program NAME_test of one folder. A
# suite that computes runs once more for every narrower instruction set (NAME.sse42, NAME.avx2), unless ONE_ISA says that it
# does so itself or that nothing in it depends on one. OWN_MAIN: main() is among the sources; such a suite runs once.
function(tw_test name)
  if(NOT TILEWRIGHT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "ONE_ISA;OWN_MAIN" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE tw_options GTest::gtest GTest::gmock)
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
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${TW_TEST_SECONDS})
  if(ARG_OWN_MAIN)
    return()
  endif()
  tw_links(${name}_test tw_cpu_kernels computes)
  if(NOT computes)
    target_link_libraries(${name}_test PRIVATE GTest::gtest_main)
    return()
  endif()
  target_sources(${name}_test PRIVATE $<TARGET_OBJECTS:tw_test_main>)
  target_include_directories(${name}_test PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(ARG_ONE_ISA)
    return()
  endif()
  foreach(isa sse42 avx2)
    add_test(NAME ${name}.${isa} COMMAND ${name}_test --isa ${isa})
    set_tests_properties(${name}.${isa} PROPERTIES LABELS "${ARG_LABELS};isa" TIMEOUT ${TW_TEST_SECONDS} SKIP_RETURN_CODE 77)
  endforeach()
endfunction()
