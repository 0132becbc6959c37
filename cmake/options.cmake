# What is built. Everything but the libraries is off when perp is part of another project.
include(CMakeDependentOption)

option(BUILD_SHARED_LIBS "Build shared libraries" OFF)
option(PERP_BUILD_PERP "Build libperp too; OFF: libperp_comp alone, without jansson and HDF5" ON)
cmake_dependent_option(PERP_BUILD_CLI "Build the perp command" ${PROJECT_IS_TOP_LEVEL}
  "PERP_BUILD_PERP" OFF)
cmake_dependent_option(PERP_BUILD_VIEWER "Build the viewer into the command (Node.js, npm)" ON
  "PERP_BUILD_CLI" OFF)
cmake_dependent_option(PERP_WITH_QHULL "Make convex hulls of points by qhull" ON "PERP_BUILD_PERP" OFF)
cmake_dependent_option(PERP_WITH_SUNDIALS "Integrate between events by SUNDIALS: the stepper event" ON "PERP_BUILD_PERP" OFF)
option(PERP_WITH_OPENMP "Run islands, pairs and fronts on threads by OpenMP, where the compiler has it" ON)
# Tests look inside (pp_ names), which a shared library does not show.
cmake_dependent_option(PERP_BUILD_TESTS "Build the tests and examples" ${PROJECT_IS_TOP_LEVEL}
  "PERP_BUILD_PERP;NOT BUILD_SHARED_LIBS" OFF)
cmake_dependent_option(PERP_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL}
  "PERP_BUILD_PERP;NOT BUILD_SHARED_LIBS" OFF)
cmake_dependent_option(PERP_BUILD_FUZZ "Build the libFuzzer targets (clang)" OFF
  "PERP_BUILD_PERP;NOT BUILD_SHARED_LIBS" OFF)
option(PERP_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
option(PERP_WERROR "Treat warnings as errors" OFF)
option(PERP_ASSERTS "Keep internal assertions in optimised builds" OFF)
option(PERP_COVERAGE "Count executed lines (gcov)" OFF)
set(PERP_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

# Release is -O3 -DNDEBUG: the solver kernels profit from gcc's vectoriser.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
