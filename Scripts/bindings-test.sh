#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the C library and the Python package: layouts, every program of Docs/Languages.md for which there is a compiler, hostile calls, broken
# models.
#
#   Scripts/bindings-test.sh [--library DIR] [--sanitize address] [--calls COUNT] [--tensorflow DIR] [--include DIR]…
#                            [--go-tflite DIR] [--go-path DIR]… [--frigate DIR]
#
# DIR of --library is what Scripts/c-library.sh wrote; otherwise it runs first. --calls is how many hostile calls there are, with one thread and
# with four: 100,000 by default. APUS_TEST_DATA adds models. PYTHON has numpy and flatbuffers, whose compiler flatc is in the path.
#
# --sanitize address builds the library with AddressSanitizer, in a folder of its own, and runs all of it: C and C++ programs are compiled with
# the sanitizer, too, and may leave no memory behind; others load its runtime first. Generated machine code is not instrumented.
#
# Others' programs, whose sources are no part of the project, are tested unedited where a copy of them is named:
#
#   --tensorflow  TensorFlow's headers, tests and test data, in tensorflow/lite or tflite: the C API's own tests are compiled and run, with
#                 GoogleTest, and so is interpreter_test.py; --include adds folders with what they include (flatbuffers, Eigen, Abseil)
#   --go-tflite   github.com/mattn/go-tflite: its tests and examples, each run of which is repeated in LiteRT. Packages that examples import
#                 are in src of --go-path, and in Debian's /usr/share/gocode (golang-github-{disintegration-imaging,mattn-go-pointer,
#                 nfnt-resize,vincent-petithory-dataurl}-dev). PYTHON has ai_edge_litert
#   --frigate     github.com/blakeblackshear/frigate: its detectors cpu, with the Python package as a wheel, and zmq and deepstack, with the server
#                 that APUS_SERVER names; their rows are LiteRT's. PYTHON is .build/serving-python/bin/python, which Scripts/setup.sh
#                 --serving-tests makes, and APUS_TEST_DATA is needed
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} library='' tensorflow='' includes=() sanitizer='' calls=100000 go_tflite='' go_path=/usr/share/gocode frigate=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --library) library=$2 ;;
    --sanitize) sanitizer=$2; [[ $2 == address ]] || { echo "error: --sanitize is address, not $2" >&2; exit 64; } ;;
    --calls) calls=$2 ;;
    --tensorflow) tensorflow=$(cd "$2" && pwd) ;;
    --include) includes+=(-isystem "$2") ;;
    --go-tflite) go_tflite=$(cd "$2" && pwd) ;;
    --go-path) go_path=$(cd "$2" && pwd):$go_path ;;
    --frigate) frigate=$(cd "$2" && pwd) ;;
    *) echo "error: there is no option $1" >&2; exit 64 ;;
  esac
  shift 2
done
# A path, as the working directory changes.
[[ $python != */* ]] || python=$(cd "$(dirname "$python")" && pwd)/${python##*/}
cc=(cc) cxx=(c++) preloaded='' loaded=() unleaked=()
if [[ $sanitizer ]]; then
  [[ -z $library ]] || { echo "error: --sanitize builds a library of its own: leave out --library" >&2; exit 64; }
  library=Bindings/C/.build/address/library
  clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
  preloaded=$("$clang" -print-file-name="libclang_rt.asan-$(uname -m).so")
  [[ -f $preloaded ]] || { echo "error: the toolchain of $clang has no runtime of AddressSanitizer" >&2; exit 1; }
  # The runtime is named as a library, so that linkers of programs find what the sanitizer's code calls.
  flags=(--package-path Bindings/C -c release --sanitize=address --scratch-path Bindings/C/.build/address --product tensorflowlite_c
    -Xlinker "$preloaded" -Xlinker -rpath -Xlinker "$(dirname "$preloaded")")
  swift build "${flags[@]}"
  mkdir -p "$library/lib" "$library/include"
  cp "$(swift build "${flags[@]}" --show-bin-path)/libtensorflowlite_c.so" "$library/lib/"
  cp -r Bindings/C/Headers/. "$library/include/"
  instrumented=(-fsanitize=address -shared-libasan -Wl,-rpath,"$(dirname "$preloaded")")
  cc=("$clang" "${instrumented[@]}") cxx=("$clang++" "${instrumented[@]}")
elif [[ -z $library ]]; then
  library=Bindings/C/.build/library
  Scripts/c-library.sh --output "$library"
fi
library=$(cd "$library" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$library/lib PYTHONPATH=$PWD/Bindings/Python APUS_TFLITE_LIBRARY=$library/lib/libtensorflowlite_c.so
if [[ $sanitizer ]]; then
  # Reports go to files, as some tests close the standard error. Swift's own backtracer would wait for ever beneath the sanitizer.
  export SWIFT_BACKTRACE=enable=no
  export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1:log_path=$work/report
  trap 'cat "$work"/report* 2>/dev/null && echo "error: AddressSanitizer reports the above" >&2; rm -rf "$work"' EXIT
  loaded=(env "LD_PRELOAD=$preloaded") unleaked=(env "ASAN_OPTIONS=${ASAN_OPTIONS/detect_leaks=0/detect_leaks=1}")
fi
if [[ -z $sanitizer ]]; then
  echo "== Size"
  # One call that links the standard library's regular expressions adds more than a megabyte.
  size=$(stat -L -c %s "$library/lib/libtensorflowlite_c.so")
  [[ $size -le 9000000 ]] || { echo "error: the library has $size bytes, more than 9,000,000" >&2; exit 1; }
fi

echo "== Layouts"
cc -x c -std=c11 -fsyntax-only -I"$library/include" Bindings/C/Tests/layout.h

echo "== The Python package"
"${loaded[@]}" "$python" Bindings/Python/tests/test_interpreter.py
APUS_TFLITE_METHODS=python "${loaded[@]}" "$python" Bindings/Python/tests/test_interpreter.py
"${loaded[@]}" "$python" -c 'import sys; sys.path.insert(0, "Bindings/Python/tests"); import test_interpreter, pathlib
pathlib.Path(sys.argv[1]).write_bytes(test_interpreter.model())
pathlib.Path(sys.argv[2]).write_bytes(test_interpreter.model("Twice"))
pathlib.Path(sys.argv[3]).write_bytes(test_interpreter.functions("Scale", [(1, b"\2"), (1, b"\3"), (2, b"\5")]))' \
  "$work/model.tflite" "$work/twice.tflite" "$work/functions.tflite"

echo "== The programs of Docs/Languages.md"
program() { awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' Docs/Languages.md > "$work/program.$2"; }
expect() { local bytes; bytes=$("$@" "$work/model.tflite"); [[ $bytes == 16 ]] || { echo "error: $* printed $bytes, not 16" >&2; exit 1; }; }
flags=(-I"$library/include" -L"$library/lib" -ltensorflowlite_c)
program c c
"${cc[@]}" -Wall -Wextra -Werror "$work/program.c" -o "$work/c" "${flags[@]}"
expect "${unleaked[@]}" "$work/c"
program cpp cpp
"${cxx[@]}" -std=c++17 -Wall "$work/program.cpp" -o "$work/cpp" "${flags[@]}"
expect "${unleaked[@]}" "$work/cpp"
program python py
expect "${loaded[@]}" "$python" "$work/program.py"
if command -v go >/dev/null; then
  program go go
  (cd "$work" && GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=$work/cache CGO_CFLAGS=-I$library/include \
    CGO_LDFLAGS="-L$library/lib -ltensorflowlite_c" go build -o go program.go)
  expect "${loaded[@]}" "$work/go"
else echo "skipped: Go is not installed"; fi
if command -v rustc >/dev/null; then
  program rust rs
  rustc --edition 2021 "$work/program.rs" -o "$work/rust" -L "$library/lib" -l tensorflowlite_c
  expect "${loaded[@]}" "$work/rust"
else echo "skipped: Rust is not installed"; fi

if [[ -z $sanitizer ]]; then
  echo "== Installed by pkg-config and CMake, and removed"
  APUS_C_LIBRARY=$library Scripts/install.sh --prefix "$work/prefix" --c-library
  if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046
    cc "$work/program.c" -o "$work/installed" $(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs tensorflowlite_c)
    LD_LIBRARY_PATH=$work/prefix/lib expect "$work/installed"
  else echo "skipped: pkg-config is not installed"; fi
  if command -v cmake >/dev/null; then
    printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(program C)' 'find_package(tensorflowlite_c REQUIRED)' \
      'add_executable(program program.c)' 'target_link_libraries(program tensorflowlite_c::tensorflowlite_c)' > "$work/CMakeLists.txt"
    cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/cmake.log"
    cmake --build "$work/cmake" >> "$work/cmake.log"
    LD_LIBRARY_PATH=$work/prefix/lib expect "$work/cmake/program"
  else echo "skipped: CMake is not installed"; fi
  Scripts/install.sh --prefix "$work/prefix" --uninstall
  [[ -z $(find "$work/prefix" -type f) ]] || { echo "error: $(find "$work/prefix" -type f) was left behind" >&2; exit 1; }
fi

echo "== Operators of clients"
"${cc[@]}" -x c -std=c11 -Wall Bindings/C/Tests/operators.h -o "$work/operators" "${flags[@]}"
"${unleaked[@]}" "$work/operators" "$work/functions.tflite" "$work/twice.tflite"

echo "== Hostile calls"
"${loaded[@]}" "$python" Bindings/C/Tests/hostile.py "$library/lib/libtensorflowlite_c.so" "$work/model.tflite" "$calls"
"${loaded[@]}" "$python" Bindings/C/Tests/hostile.py "$library/lib/libtensorflowlite_c.so" "$work/model.tflite" "$calls" 2 4

echo "== Broken models"
"${loaded[@]}" "$python" Bindings/C/Tests/corpus.py "$library/lib/libtensorflowlite_c.so" Fuzzing/Kept/run/*.tflite

if [[ $go_tflite ]]; then
  echo "== go-tflite's own tests and examples"
  if command -v go >/dev/null; then
    cc -x c -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$library/include" Bindings/C/Tests/record.h -o "$work/record.so"
    "$python" Bindings/C/Tests/go_tflite.py "$go_tflite" "$go_path" "$library" "${preloaded:+$preloaded:}$work/record.so"
  else echo "skipped: Go is not installed"; fi
fi

if [[ $frigate ]]; then
  echo "== Frigate's detectors"
  [[ ${APUS_TEST_DATA:-} ]] || { echo "error: --frigate needs the models of APUS_TEST_DATA" >&2; exit 64; }
  Scripts/python-wheel.sh --output "$work/wheel" --library "$library/lib/libtensorflowlite_c.so"
  "$python" -m zipfile -e "$work"/wheel/*.whl "$work/site"
  env -u APUS_TFLITE_LIBRARY PYTHONPATH="$work/site" "${loaded[@]}" "$python" Bindings/Python/tests/frigate_plugins.py "$frigate"
fi

[[ -n $tensorflow ]] || exit 0
project=$PWD
cd "$tensorflow"
lite=tensorflow/lite
[[ -d $lite ]] || lite=tflite
includes=(-I. -I"$library/include" "${includes[@]}")

echo "== Layouts of TensorFlow's header"
cc -x c -std=c11 -fsyntax-only -I. "-DTENSORFLOW_COMMON_H=\"$lite/core/c/common.h\"" "$project/Bindings/C/Tests/layout.h"

echo "== The C API's own tests"
# Tests of delegates, of operators in place of built-in ones, of strings and of tensors that the test makes itself cannot pass, and some
# need functions of TensorFlow Lite in C++, which are no part of the C API. The names that must pass are a list.
passed=0
for test in c/c_api_signature_runner_test core/c/c_api_test core/c/c_api_experimental_test core/c/c_api_opaque_test; do
  name=${test##*/}
  grep -q "^$name " "$project/Bindings/C/Tests/tensorflow.txt" || continue
  "${cxx[@]}" -std=c++17 -w -fno-pie -no-pie "${includes[@]}" "$lite/$test.cc" -o "$work/$name" -L"$library/lib" -ltensorflowlite_c -lgtest -lgmock \
    -lgtest_main -lpthread -Wl,--unresolved-symbols=ignore-all 2>/dev/null
  while read -r _ case; do
    "${loaded[@]}" "$work/$name" --gtest_filter="$case" > "$work/log" 2>&1 || { cat "$work/log"; echo "error: $case fails" >&2; exit 1; }
    grep -q '\[  PASSED  \] 1 test' "$work/log" || { echo "error: there is no test $case" >&2; exit 1; }
    passed=$((passed + 1))
  done < <(grep "^$name " "$project/Bindings/C/Tests/tensorflow.txt")
done
# The program in C is one test after another; from the first delegate on it cannot go on.
printf '#define main whole_program\n#include "%s/c/c_test.c"\n#undef main\nint main(void) {\n  TestVersion();\n  TestInferenceUsingSignature();\n  TestRepeatResizeInputTensor();\n  TestInferenceUsingInterpreter();\n}\n' "$lite" > "$work/driver.c"
"${cc[@]}" -w "${includes[@]}" "$work/driver.c" -o "$work/driver" -L"$library/lib" -ltensorflowlite_c
"${loaded[@]}" "$work/driver" > /dev/null
echo "$passed tests of GoogleTest and 4 of c_test.c passed"

echo "== The interpreter's own tests"
schema=$lite/converter/schema/schema.fbs
[[ -f $schema ]] || schema=tensorflow/compiler/mlir/lite/schema/schema.fbs
"${loaded[@]}" "$python" "$project/Bindings/Python/tests/tensorflow_tests.py" "$lite/python" "$schema"
