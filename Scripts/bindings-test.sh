#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the C library and the Python package: layouts, every program of Docs/Languages.md for which there is a compiler, hostile calls.
#
#   Scripts/bindings-test.sh [--library DIR] [--tensorflow DIR] [--include DIR]…
#
# DIR of --library is what Scripts/c-library.sh wrote; otherwise it runs first. DIR of --tensorflow has TensorFlow's headers, tests and
# test data, in tensorflow/lite or tflite: the C API's own tests are then compiled unedited and run, with GoogleTest, and so is
# interpreter_test.py; --include adds folders with what they include (flatbuffers, Eigen, Abseil). APUS_TEST_DATA adds models. PYTHON has
# numpy and flatbuffers, whose compiler flatc is in the path.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} library='' tensorflow='' includes=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --library) library=$2 ;;
    --tensorflow) tensorflow=$(cd "$2" && pwd) ;;
    --include) includes+=(-isystem "$2") ;;
    *) echo "error: there is no option $1" >&2; exit 64 ;;
  esac
  shift 2
done
if [[ -z $library ]]; then
  library=Bindings/C/.build/library
  Scripts/c-library.sh --output "$library"
fi
library=$(cd "$library" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$library/lib PYTHONPATH=$PWD/Bindings/Python APUS_TFLITE_LIBRARY=$library/lib/libtensorflowlite_c.so

echo "== Size"
# One call that links the standard library's regular expressions adds more than a megabyte.
size=$(stat -L -c %s "$library/lib/libtensorflowlite_c.so")
[[ $size -le 9000000 ]] || { echo "error: the library has $size bytes, more than 9,000,000" >&2; exit 1; }

echo "== Layouts"
cc -x c -std=c11 -fsyntax-only -I"$library/include" Bindings/C/Tests/layout.h

echo "== The Python package"
"$python" Bindings/Python/tests/test_interpreter.py
APUS_TFLITE_METHODS=python "$python" Bindings/Python/tests/test_interpreter.py
"$python" -c 'import sys; sys.path.insert(0, "Bindings/Python/tests"); import test_interpreter, pathlib
pathlib.Path(sys.argv[1]).write_bytes(test_interpreter.model())
pathlib.Path(sys.argv[2]).write_bytes(test_interpreter.model("Twice"))' "$work/model.tflite" "$work/twice.tflite"

echo "== The programs of Docs/Languages.md"
program() { awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' Docs/Languages.md > "$work/program.$2"; }
expect() { local bytes; bytes=$("$@" "$work/model.tflite"); [[ $bytes == 16 ]] || { echo "error: $1 printed $bytes, not 16" >&2; exit 1; }; }
flags=(-I"$library/include" -L"$library/lib" -ltensorflowlite_c)
program c c
cc -Wall -Wextra -Werror "$work/program.c" -o "$work/c" "${flags[@]}"
expect "$work/c"
program cpp cpp
c++ -std=c++17 -Wall "$work/program.cpp" -o "$work/cpp" "${flags[@]}"
expect "$work/cpp"
program python py
expect "$python" "$work/program.py"
if command -v go >/dev/null; then
  program go go
  (cd "$work" && GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=$work/cache CGO_CFLAGS=-I$library/include \
    CGO_LDFLAGS="-L$library/lib -ltensorflowlite_c" go build -o go program.go)
  expect "$work/go"
else echo "skipped: Go is not installed"; fi
if command -v rustc >/dev/null; then
  program rust rs
  rustc --edition 2021 "$work/program.rs" -o "$work/rust" -L "$library/lib" -l tensorflowlite_c
  expect "$work/rust"
else echo "skipped: Rust is not installed"; fi

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

echo "== Operators of clients"
cc -x c -std=c11 -Wall Bindings/C/Tests/operators.h -o "$work/operators" "${flags[@]}"
"$work/operators" "$work/twice.tflite"

echo "== Hostile calls"
"$python" Bindings/C/Tests/hostile.py "$library/lib/libtensorflowlite_c.so" "$work/model.tflite" 100000
"$python" Bindings/C/Tests/hostile.py "$library/lib/libtensorflowlite_c.so" "$work/model.tflite" 100000 2 4

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
  c++ -std=c++17 -w -no-pie "${includes[@]}" "$lite/$test.cc" -o "$work/$name" -L"$library/lib" -ltensorflowlite_c -lgtest -lgmock \
    -lgtest_main -lpthread -Wl,--unresolved-symbols=ignore-all 2>/dev/null
  while read -r _ case; do
    "$work/$name" --gtest_filter="$case" > "$work/log" 2>&1 || { cat "$work/log"; echo "error: $case fails" >&2; exit 1; }
    grep -q '\[  PASSED  \] 1 test' "$work/log" || { echo "error: there is no test $case" >&2; exit 1; }
    passed=$((passed + 1))
  done < <(grep "^$name " "$project/Bindings/C/Tests/tensorflow.txt")
done
# The program in C is one test after another; from the first delegate on it cannot go on.
printf '#define main whole_program\n#include "%s/c/c_test.c"\n#undef main\nint main(void) {\n  TestVersion();\n  TestInferenceUsingSignature();\n  TestRepeatResizeInputTensor();\n  TestInferenceUsingInterpreter();\n}\n' "$lite" > "$work/driver.c"
cc -w "${includes[@]}" "$work/driver.c" -o "$work/driver" -L"$library/lib" -ltensorflowlite_c
"$work/driver" > /dev/null
echo "$passed tests of GoogleTest and 4 of c_test.c passed"

echo "== The interpreter's own tests"
schema=$lite/converter/schema/schema.fbs
[[ -f $schema ]] || schema=tensorflow/compiler/mlir/lite/schema/schema.fbs
"$python" "$project/Bindings/Python/tests/tensorflow_tests.py" "$lite/python" "$schema"
