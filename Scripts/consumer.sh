#!/usr/bin/env bash
# Proves that a versioned dependency works: tags a scratch copy of this tree as 1.0.0, then builds and runs a
# ten-line program against it.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$scratch/apus" "$scratch/consumer/Sources/consumer"
git ls-files -z --cached --others --exclude-standard | grep -zE '^(Package.swift|Sources/)' |
  while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done | tar --null -T - -cf - | tar -xf - -C "$scratch/apus"
# The tests' targets are declared in the manifest: empty folders stand for them.
git ls-files Tests Benchmarks | grep '\.swift$' | xargs -r -n1 dirname | sort -u | while read -r folder; do
  mkdir -p "$scratch/apus/$folder" && echo '// Left out of this copy.' > "$scratch/apus/$folder/Empty.swift"
done
git -C "$scratch/apus" init -q
git -C "$scratch/apus" add -A
git -C "$scratch/apus" -c user.name=consumer -c user.email=consumer@example.com commit -q -m 'A version'
git -C "$scratch/apus" tag 1.0.0

cat > "$scratch/consumer/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "consumer",
  dependencies: [.package(url: "file://$scratch/apus", from: "1.0.0")],
  targets: [.executableTarget(name: "consumer", dependencies: [.product(name: "ApusVision", package: "apus"),
    .product(name: "ApusImages", package: "apus")])])
MANIFEST
cat > "$scratch/consumer/Sources/consumer/main.swift" <<'PROGRAM'
import ApusImages
import ApusVision

let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
let detector = try ObjectDetector.shapes()
let detections = try detector.detect(picture).detections
for detection in detections {
  print(detection.category.label ?? "?", detection.category.score)
}
precondition(!detections.isEmpty)
PROGRAM
echo "== A consumer of version 1.0.0"
swift build --package-path "$scratch/consumer" -c release --quiet
"$(swift build --package-path "$scratch/consumer" -c release --show-bin-path)/consumer"
