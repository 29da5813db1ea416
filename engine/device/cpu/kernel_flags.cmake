# Kernel files are compiled once per instruction set and chosen at run time; the suffix of the name says which set.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(tg_kernel_sets neon)
  set(tg_foreign_kernels "_(avx2|avx512)\\.cpp$")
else()
  set(tg_kernel_sets avx2 avx512)
  set(tg_foreign_kernels "_neon\\.cpp$")
endif()
set(tg_flags_avx2 -O3 -mavx2 -mfma -mf16c)
set(tg_flags_avx512 -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx512vbmi -mfma -mf16c -mprefer-vector-width=512)
set(tg_flags_neon -O2)

# Fully unrolled kernels take a sanitizing compiler minutes: here they are watched for addresses only, and less optimised.
if(TG_SANITIZE)
  foreach(isa avx2 avx512 neon)
    list(REMOVE_ITEM tg_flags_${isa} -O3)
    list(APPEND tg_flags_${isa} -O1 -fno-sanitize=undefined)
  endforeach()
endif()

# Takes the kernels of other processors out of a list of sources.
function(tg_remove_foreign_kernels list_name)
  set(sources ${${list_name}})
  list(FILTER sources EXCLUDE REGEX "/device/cpu/.*${tg_foreign_kernels}")
  set(${list_name} ${sources} PARENT_SCOPE)
endfunction()

# Gives the kernel files below FOLDER the flags of their instruction set; they are sources of TARGET.
function(tg_kernel_flags target folder)
  foreach(isa ${tg_kernel_sets})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*_${isa}.cpp)
    if(files)
      set_source_files_properties(${files} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${tg_flags_${isa}}")
    endif()
  endforeach()
endfunction()
