#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests under a sanitizer: Scripts/sanitize.sh address|thread [FILTER]
#
# Each has a build folder of its own, so that ordinary builds stay as they are. Generated machine code is not instrumented;
# its tests run between guard pages instead. Tests that count allocations, limit address space, or refuse calls of the system are
# left out: so does the sanitizer itself need them.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizer="${1:?address or thread}"
filter="${2:-.}"
# Swift's own backtracer would wait for ever beneath the sanitizer.
export SWIFT_BACKTRACE=enable=no
# Nothing that the process keeps until its end is a leak: kernels' code, threads, the cache of models.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1
export TSAN_OPTIONS=halt_on_error=1
folder=".build/sanitize-$sanitizer"
swift build -c release --sanitize="$sanitizer" --scratch-path "$folder" --build-tests
swift test -c release --sanitize="$sanitizer" --scratch-path "$folder" --skip-build --disable-xctest --filter "$filter" \
  --skip 'AllocationTests|CommandLineTests|FaultTests|RefusalTests|TaskCommandTests'
