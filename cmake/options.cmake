# What is built. Everything but the libraries is off when perp is part of another project.
include(CMakeDependentOption)

set(PERP_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(PERP_COVERAGE "Count executed lines (gcov)" OFF)

# Alone, perp makes both kinds of libraries; within another project the one that BUILD_SHARED_LIBS asks for.
# Sanitizers and counters come with the program, so their builds have static libraries only.
option(BUILD_SHARED_LIBS "perp::comp, perp::perp and perp::io are the shared libraries" OFF)
set(wants_static ON)
set(wants_shared ON)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(wants_shared ${BUILD_SHARED_LIBS})
  if(BUILD_SHARED_LIBS)
    set(wants_static OFF)
  endif()
endif()
cmake_dependent_option(PERP_BUILD_SHARED "Build shared libraries" ${wants_shared}
  "NOT PERP_SANITIZE;NOT PERP_COVERAGE" OFF)
cmake_dependent_option(PERP_BUILD_STATIC "Build static libraries" ${wants_static} "PERP_BUILD_SHARED" ON)
set(perp_kinds)  # those that are built
if(PERP_BUILD_STATIC)
  list(APPEND perp_kinds static)
endif()
if(PERP_BUILD_SHARED)
  list(APPEND perp_kinds shared)
endif()
set(perp_kind static)  # the one that perp::comp, perp::perp and perp::io stand for
if(PERP_BUILD_SHARED AND (BUILD_SHARED_LIBS OR NOT PERP_BUILD_STATIC))
  set(perp_kind shared)
endif()

option(PERP_BUILD_PERP "Build libperp, the simulator; OFF: libperp_comp alone" ON)
cmake_dependent_option(PERP_BUILD_IO "Build libperp_io, scenes and recordings (jansson, expat, HDF5)" ON "PERP_BUILD_PERP" OFF)
cmake_dependent_option(PERP_BUILD_CLI "Build the perp command" ${PROJECT_IS_TOP_LEVEL} "PERP_BUILD_IO" OFF)
cmake_dependent_option(PERP_BUILD_VIEWER "Build the viewer into the command (Node.js, npm)" ON "PERP_BUILD_CLI" OFF)
cmake_dependent_option(PERP_WITH_QHULL "Make convex hulls of points by qhull" ON "PERP_BUILD_PERP" OFF)
option(PERP_WITH_OPENMP "Run islands, pairs and fronts on threads by OpenMP, where the compiler has it" ON)
cmake_dependent_option(PERP_WITH_MPI "Build the module that shares sweeps among ranks, where MPI is found" ON "PERP_BUILD_CLI" OFF)
# Tests look inside (pp_ names), which only the static libraries show.
set(inside "PERP_BUILD_IO;PERP_BUILD_STATIC")
cmake_dependent_option(PERP_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL} "${inside}" OFF)
cmake_dependent_option(PERP_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL} "${inside}" OFF)
cmake_dependent_option(PERP_BUILD_FUZZ "Build the libFuzzer targets (clang)" OFF "${inside}" OFF)
cmake_dependent_option(PERP_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL} "PERP_BUILD_IO" OFF)
# The Python module holds the static libraries; it needs Python.h, and is left out where there is none.
cmake_dependent_option(PERP_BUILD_PYTHON "Build the Python module" ${PROJECT_IS_TOP_LEVEL} "${inside}" OFF)
set(PERP_PYTHON_DIR "" CACHE STRING "Where make install places the Python package, below the prefix; empty: nowhere")
option(PERP_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
option(PERP_WERROR "Treat warnings as errors" OFF)
option(PERP_ASSERTS "Keep internal assertions in optimised builds" OFF)

# Release is -O3 -DNDEBUG: the solver kernels profit from gcc's vectoriser.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
