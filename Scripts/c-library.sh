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
# What no function of the library asks for: the names of Unicode characters, whose tables take half a megabyte, and the texts of the standard
# library's own values, which are empty where its runtime should ever want one. The library's objects print numbers, strings and types of their
# own alone: they refer to no CustomDebugStringConvertible of the standard library's types.
unasked=()
leave_out() { unasked+=(-Xlinker "--wrap=$1" -Xlinker "--defsym=__wrap_$1=$2"); }
for function in _swift_stdlib_getScalarName _swift_stdlib_getNameAlias; do leave_out $function swift_deletedMethodError; done
texts=(ss5SIMD{2,3,4,8}V16debugDescription ss6SIMD{16,32,64}V16debugDescription ss4SIMDPsE11description)
# Buffers of pointers.
texts+=(sS{W,w,R,r}16debugDescription)
# Keys, and errors of Codable.
texts+=(ss10AnyKeyPathC16debugDescription ss13{De,En}codingErrorO16debugDescription ss9CodingKeyPsE11description)
# Collections, mirrors, Unicode and versions.
texts+=(ss18DiscontiguousSliceV{,5IndexV}11description ss8RangeSetV{,6RangesV}11description ss15CollectionOfOneV16debugDescription
  ss6MirrorV11description ss7UnicodeO20_CharacterRecognizerV11description ss7UnicodeO4UTF8O15ValidationErrorV11description
  ss22_GraphemeBreakingStateV11description sSo19_SwiftStdlibVersionasE11description)
# Each is a getter of a string; String.init() returns an empty one in the same way.
for text in "${texts[@]}"; do leave_out "\$${text}SSvg" '$sS2SycfC'; done
if nm -u "$copies"/*.o 2> /dev/null | grep -E ' \$s[Ss].*(CustomDebug|SIMD.*Custom)StringConvertible.*(WP|Mc)$'; then
  echo "error: the library asks for a text that it leaves out" >&2
  exit 1
fi
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
