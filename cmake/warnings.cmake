# perp_build: how every file of the project is compiled. -ffp-contract=off: the same bits on machines
# with and without fused multiply-add.
add_library(perp_build INTERFACE)
target_compile_options(perp_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wwrite-strings -ffp-contract=off)
target_compile_definitions(perp_build INTERFACE _POSIX_C_SOURCE=200809L)
if(PERP_WERROR)
  target_compile_options(perp_build INTERFACE -Werror)
endif()
