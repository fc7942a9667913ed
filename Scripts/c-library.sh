#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libtensorflowlite_c.so and puts it into a folder, with headers and files for pkg-config and CMake.
#
#   Scripts/c-library.sh --output DIR
#
# The library contains its Swift runtime, and exports the functions of TensorFlow Lite's C API alone.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
[[ ${1:-} == --output && -n ${2:-} && $# -eq 2 ]] || { echo "usage: Scripts/c-library.sh --output DIR" >&2; exit 64; }
mkdir -p "$2"
output=$(cd "$2" && pwd)
package=Bindings/C
name=libtensorflowlite_c.so

# The functions that Swift exports to C, and no symbol more.
mkdir -p "$package/.build"
symbols=$package/.build/symbols.txt
grep -rhoE '^@c\([A-Za-z0-9]+\)' "$package/Sources" | sed -E 's/^@c\((.*)\)$/\1/' | sort > "$symbols"
diff "$symbols" "$package/symbols.txt" || { echo "error: $package/symbols.txt lists other functions than the sources" >&2; exit 1; }
map=$PWD/$package/.build/symbols.map
{ echo '{ global:'; sed 's/.*/  &;/' "$symbols"; echo '  local: *; };'; } > "$map"

# Each function is a section of its own, so that the linker can leave it out.
flags=(--package-path "$package" -c release --static-swift-stdlib --product tensorflowlite_c -Xswiftc -Xfrontend -Xswiftc -function-sections)
swift build "${flags[@]}"
built=$(swift build "${flags[@]}" --show-bin-path)

# SwiftPM links libraries with the shared Swift runtime, so the objects are linked once more, with the static one. What no exported function
# reaches is left out, and so are the tables for unwinding: no frame of the library handles exceptions, and debuggers follow its frame pointers.
runtime=$(swiftc -static-stdlib -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p')/linux
copies=$package/.build/unretained
rm -rf "$copies" && mkdir "$copies"
python3 Tools/unretained.py "$copies" "@$built/tensorflowlite_c.product/Objects.LinkFileList" \
  "$runtime"/libswift{Core,Synchronization}.a > "$copies.txt"
script=$package/.build/sections.ld
# The sections that only debuggers and reflection from other processes read, and the buffer for the environment of the runtime's own crash
# reports, which need not be zeros of the file.
cat > "$script" <<'LD'
SECTIONS {
  /DISCARD/ : {
    *(.eh_frame) *(.swift_modhash) *(.lldbsummaries) *(.comment)
    *(EXCLUDE_FILE(*swiftrt.o) swift5_assocty) *(EXCLUDE_FILE(*swiftrt.o) swift5_builtin) *(EXCLUDE_FILE(*swiftrt.o) swift5_mpenum)
  }
} INSERT AFTER .text;
SECTIONS { swift5_backtrace (NOLOAD) : { *(swift5_backtrace) } } INSERT BEFORE .bss;
LD
# What no function of the library asks for: the names of Unicode characters, whose tables take half a megabyte, and what key paths and errors
# of Codable are called.
unasked=()
for function in _swift_stdlib_getScalarName _swift_stdlib_getNameAlias '$ss10AnyKeyPathC16debugDescriptionSSvg' \
  '$ss13DecodingErrorO16debugDescriptionSSvg' '$ss13EncodingErrorO16debugDescriptionSSvg'; do
  unasked+=(-Xlinker "--wrap=$function" -Xlinker "--defsym=__wrap_$function=swift_deletedMethodError")
done
linked=$package/.build/$name
# Functions with equal code are one (--icf): nothing compares their addresses.
swiftc -emit-library -static-stdlib -use-ld=lld -o "$linked" "@$copies.txt" \
  -Xlinker "--version-script=$map" -Xlinker "-soname=$name" -Xlinker --gc-sections -Xlinker --icf=all -Xlinker --no-eh-frame-hdr \
  -Xlinker -T -Xlinker "$script" "${unasked[@]}"

mkdir -p "$output/lib/pkgconfig" "$output/lib/cmake/tensorflowlite_c" "$output/include"
strip --strip-unneeded -o "$output/lib/$name" "$linked"
cp -r "$package/Headers/." "$output/include/"
if readelf -d "$output/lib/$name" | grep 'NEEDED.*libswift'; then echo "error: $name needs a library of Swift" >&2; exit 1; fi
nm -D --defined-only "$output/lib/$name" | awk '{ print $3 }' | sort | diff - "$symbols" \
  || { echo "error: $name exports other symbols than the API's" >&2; exit 1; }

version=$(Scripts/version.sh)
cat > "$output/lib/pkgconfig/tensorflowlite_c.pc" <<PC
prefix=\${pcfiledir}/../..
Name: tensorflowlite_c
Description: TensorFlow Lite's C API, implemented by Apus
Version: $version
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -ltensorflowlite_c
PC
cat > "$output/lib/cmake/tensorflowlite_c/tensorflowlite_cConfig.cmake" <<'CMAKE'
get_filename_component(tensorflowlite_c_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tensorflowlite_c::tensorflowlite_c)
  add_library(tensorflowlite_c::tensorflowlite_c SHARED IMPORTED)
  set_target_properties(tensorflowlite_c::tensorflowlite_c PROPERTIES
    IMPORTED_LOCATION "${tensorflowlite_c_prefix}/lib/libtensorflowlite_c.so"
    INTERFACE_INCLUDE_DIRECTORIES "${tensorflowlite_c_prefix}/include")
endif()
CMAKE
echo "Built $output/lib/$name ($(stat -c %s "$output/lib/$name") bytes, $(wc -l < "$symbols") functions)"
