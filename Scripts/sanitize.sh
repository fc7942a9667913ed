#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests under a sanitizer: Scripts/sanitize.sh address|thread [FILTER]
#
# Each has a build folder of its own, so that ordinary builds stay as they are. Generated machine code is not instrumented;
# its tests run between guard pages instead. Tests that count allocations or memory, limit address space, or refuse calls of the
# system are left out: so does the sanitizer itself need them. Without a filter, target follows target, so that the log says how
# far it came.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizer="${1:?address or thread}"
filters=(ApusFormatTests ApusImagesTests ApusVisionTests TensorFlowLiteTests ApusCLITests ApusTests ApusKernelsTests ApusTrackingTests
  ApusVideoTests ApusTestingTests ApusInterfacesTests ApusDoctorTests)
if [[ -n "${2:-}" ]]; then filters=("$2"); fi
# Swift's own backtracer would wait for ever beneath the sanitizer.
export SWIFT_BACKTRACE=enable=no
# Nothing that the process keeps until its end is a leak: kernels' code, threads, the cache of models.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1
folder=".build/sanitize-$sanitizer"
# ThreadSanitizer does not see the standard library's Mutex on Linux: what it guards would be reported. Files that make one are
# left out of its reports.
mkdir -p "$folder"
grep -rlE 'Mutex(<|\()' Sources Tests --include='*.swift' | xargs -n1 basename | sed 's/^/race:/' > "$folder/guarded.txt"
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/$folder/guarded.txt"
APUS_WITHOUT_PLUGIN=1 swift build -c release --sanitize="$sanitizer" --scratch-path "$folder" --build-tests
failed=0
for filter in "${filters[@]}"; do
  swift test -c release --sanitize="$sanitizer" --scratch-path "$folder" --skip-build --disable-xctest --filter "$filter" \
    --skip 'AllocationTests|CommandLineTests|FaultTests|HostileCommandTests|RefusalTests|TaskCommandTests|flatMemory' || failed=1
done
exit $failed
