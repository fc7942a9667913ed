#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs: Debian libraries, as root or with sudo. Does nothing if everything is there.
# With --tests, also what the tests use: binutils for x86-64 and arm64, an emulator of arm64, Debian's packaging tools, and
# LiteRT in a Python environment under .build/.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(libopenblas0 libturbojpeg0-dev libpng-dev libcairo2-dev pkg-config fonts-dejavu-core)
if [[ "${1:-}" == --tests ]]; then packages+=(binutils binutils-aarch64-linux-gnu qemu-user python3-venv git dpkg-dev); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "Installing ${missing[*]}"
  run=()
  if [[ $(id -u) -ne 0 ]]; then run=(sudo); fi
  "${run[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

command -v swift >/dev/null || { echo "error: Swift 6.2 or later is needed: https://www.swift.org/install" >&2; exit 1; }

if [[ "${1:-}" == --tests && ! -x .build/python/bin/python ]]; then
  echo "Making a Python environment with LiteRT in .build/python"
  mkdir -p .build
  python3 -m venv .build/python
  .build/python/bin/pip install --quiet --disable-pip-version-check -r Tools/goldens/requirements.txt
fi
