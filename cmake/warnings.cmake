# perp_build: how every file of the project is compiled. -ffp-contract=off: the same bits on machines
# with and without fused multiply-add.
add_library(perp_build INTERFACE)
target_compile_options(perp_build INTERFACE -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wundef -Wcast-qual
  -Wwrite-strings $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion>)  # clang's would reject INFINITY, a float
target_compile_definitions(perp_build INTERFACE _POSIX_C_SOURCE=200809L)
if(PERP_WERROR)
  target_compile_options(perp_build INTERFACE -Werror)
endif()
