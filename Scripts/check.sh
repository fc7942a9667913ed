#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules that a program can hold: format, no unsafe flags, no traps or printing in library targets, and unsafe
# code only in the places that Docs/Architecture.md lists, the licence's line in each source, comments that stand alone.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "error: $1" >&2; failed=1; }

swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Fuzzing/Package.swift Fuzzing/Sources Examples/Sources Examples/Package.swift Documentation/Package.swift \
  Serving/Package.swift Serving/Sources/{ApusServing,ApusServingMessages,ApusServer,ApusWorker} Serving/Fuzzing/Package.swift \
  Serving/Fuzzing/Sources Bindings/C/Package.swift Bindings/C/Sources || complain "swift format lint"

libraries=(Sources/ApusSystem Sources/ApusTracking Sources/ApusDoctor Sources/ApusTesting Sources/ApusVideo Sources/ApusFormat Sources/Apus{Runtime,Assembly,Kernels,CodeGeneration,Pixels} Sources/Apus Sources/ApusVision Sources/ApusInterfaces Sources/ApusImages Sources/ApusShapes Sources/TensorFlowLite
  Serving/Sources/{ApusServing,ApusServingMessages,ApusServer,ApusWorker} Bindings/C/Sources)
if grep -rnE 'fatalError\(|try!|(^|[^.[:alnum:]_])print\(' --include '*.swift' "${libraries[@]}" | grep -vE ':[[:space:]]*///'; then
  complain "fatalError, try! or print in a library target"
fi
if grep -n 'unsafeFlags' Package.swift Fuzzing/Package.swift Serving/Package.swift Serving/Fuzzing/Package.swift Bindings/C/Package.swift; then complain "unsafeFlags refuse a versioned dependency"; fi
if git ls-files | grep -E '\.(c|cc|cpp|m|mm|s|S|asm)$'; then complain "sources in another language than Swift"; fi

if git grep -nF '.path()' -- '*.swift'; then complain "path() of a URL has per cent signs for blanks: path(percentEncoded: false)"; fi

git ls-files | while read -r file; do
  if [[ ! -x $file && $(head -c2 "$file" | tr -d '\0') == '#!' ]]; then echo "$file"; fi
done | grep . && complain "programs that are not executable"

# Pointers and unchecked access: everywhere in the kernels, elsewhere only here.
allowed='^Sources/(Apus(Runtime|Assembly|Kernels|CodeGeneration|Pixels|System)/|ApusFormat/((ByteReader|FileBytes|FileParts|Model/ModelFile|FlexBuffer/FlexBuffer)\.swift)|Apus/Graph/|Apus/Operators/Control/((ReadVariable|While|DeferredWhile)\.swift)|ApusImages/(Codecs|Apple)/|ApusVideo/(ChildProcess|Cameras/V4L2Handle)\.swift|TensorFlowLite/Data\+Bytes\.swift)'
if grep -rlE 'Unsafe(Mutable|Raw|MutableRaw)?(Buffer)?Pointer|unsafeBitCast|_overrideLifetime|unowned\(unsafe\)' \
  --include '*.swift' Sources | grep -vE "$allowed"; then
  complain "unsafe code outside the places that Docs/Architecture.md lists"
fi
# In Serving/: copies between buffers, calls of zlib, bytes before they are decoded; and what libFuzzer calls.
allowed='^Serving/(Sources/(ApusServing/(Requests/ByteChunks|Support/Compression)|ApusServer/(GRPC/(AdmittedRequest|MessageBytes)|Frigate/ZMQ(Library|Socket)))\.swift|Fuzzing/Sources/)'
if grep -rlE 'Unsafe(Mutable|Raw|MutableRaw)?(Buffer)?Pointer|withUnsafe|unsafeBitCast|_overrideLifetime|unowned\(unsafe\)' \
  --include '*.swift' Serving/Sources Serving/Fuzzing/Sources | grep -v /InferenceProtocol/ | grep -vE "$allowed"; then
  complain "unsafe code in Serving/ outside the places that this script lists"
fi
Tools/structure.py || complain "imports that Package.swift does not declare, or operators in files of other names"
Tools/comments.py || complain "comments that lean on others or avoid the field's words: see RULES in Tools/comments.py"
Tools/snippets.py || complain "snippets that no program contains"
Tools/pages.py || complain "pages with links or commands that lead nowhere"
Tools/seeds.py || complain "the page of sources names what is not there"
Scripts/headers.sh --check || complain "sources without the licence's line: run Scripts/headers.sh"
exit $failed
