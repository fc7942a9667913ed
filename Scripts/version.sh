#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the version, which Sources/Apus/Runtime+Version.swift states.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/.*let version = "\([^"]*\)".*/\1/p' Sources/Apus/Runtime+Version.swift)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "error: Runtime+Version.swift states no version" >&2; exit 1; }
echo "$version"
