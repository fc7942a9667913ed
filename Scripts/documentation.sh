#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site in Documentation/site; a warning is an error.
#
# APUS_SITE_PATH is the path under which a server will have it, by default apus.
set -euo pipefail
cd "$(dirname "$0")/../Documentation"
rm -rf site
targets=()
for module in Apus ApusVision ApusImages ApusShapes ApusTracking ApusVideo ApusTesting TensorFlowLite; do targets+=(--target "$module"); done
swift package --disable-sandbox --allow-writing-to-directory site generate-documentation "${targets[@]}" \
  --enable-experimental-combined-documentation --warnings-as-errors --exclude-extended-types \
  --transform-for-static-hosting --hosting-base-path "${APUS_SITE_PATH:-apus}" --output-path site
echo "The site is in Documentation/site"
