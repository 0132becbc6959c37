# Runs PROGRAM, which must succeed, and print what is in EXPECTED if there is such a file.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE code)
set(expected "${printed}")
if(EXISTS ${EXPECTED})
  file(READ ${EXPECTED} expected)
endif()
if(NOT code EQUAL 0 OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "exit ${code}; printed:\n${printed}${complaint}\nthe page says:\n${expected}")
endif()
