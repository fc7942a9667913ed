#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes Serving/Sources/InferenceProtocol from Serving/Proto/inference.proto; the result is committed. Needs Debian's
# protobuf-compiler; the plugins are built from the packages that Serving depends on.
set -euo pipefail
cd "$(dirname "$0")/../Serving"
for plugin in protoc-gen-swift protoc-gen-grpc-swift-2; do
  swift build -c release --product "$plugin"
done
bin=$(swift build -c release --show-bin-path)
protoc -I Proto inference.proto \
  --plugin="$bin/protoc-gen-swift" --swift_out=Visibility=Public:Sources/InferenceProtocol \
  --plugin="$bin/protoc-gen-grpc-swift-2" \
  --grpc-swift-2_out=Visibility=Public,Client=false:Sources/InferenceProtocol
# The generator writes no licence into one of the files.
../Scripts/headers.sh
