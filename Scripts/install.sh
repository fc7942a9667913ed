#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs apus and apus-benchmark with their manual page and completions, or the library with TensorFlow Lite's C API, or removes them.
#
#   Scripts/install.sh [--prefix DIR]               into DIR, by default /usr/local
#   Scripts/install.sh [--prefix DIR] --c-library   libtensorflowlite_c.so with its headers and files for pkg-config and CMake, instead
#   Scripts/install.sh [--prefix DIR] --uninstall   out of it again, the library too
#
# The programs contain Swift's libraries, so no toolchain is needed where they run; libturbojpeg, libpng and cairo are.
# libwebp and Pango are used where they are installed.
# DESTDIR is put in front of every path, as packagers expect. APUS_BIN names a folder of programs built already,
# APUS_C_LIBRARY one that Scripts/c-library.sh has written.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=/usr/local
uninstall= c_library=
while (($#)); do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder}; shift 2 ;;
    --uninstall) uninstall=1; shift ;;
    --c-library) c_library=1; shift ;;
    *) echo "error: unknown option $1; see the first lines of $0" >&2; exit 64 ;;
  esac
done
[[ $prefix == /* ]] || { echo "error: the prefix must be an absolute path" >&2; exit 64; }
root=${DESTDIR:-}$prefix

# Everything that is installed, below the prefix.
files=(
  bin/apus bin/apus-benchmark share/man/man1/apus.1 share/bash-completion/completions/apus
  share/zsh/site-functions/_apus share/fish/vendor_completions.d/apus.fish
  share/doc/apus/LICENSE.txt share/doc/apus/NOTICE.txt
)
# The same of the library.
library_files=(
  lib/libtensorflowlite_c.so lib/pkgconfig/tensorflowlite_c.pc lib/cmake/tensorflowlite_c/tensorflowlite_cConfig.cmake
  include/tensorflow/lite/c/c_api.h include/tensorflow/lite/c/c_api_experimental.h include/tensorflow/lite/c/c_api_types.h
  include/tensorflow/lite/c/common.h share/doc/libtensorflowlite-c/LICENSE.txt share/doc/libtensorflowlite-c/NOTICE.txt
)

if [[ -n $uninstall ]]; then
  for file in "${files[@]}" "${library_files[@]}"; do
    rm -f "$root/$file"
    # Folders that nothing else uses go too, the prefix stays.
    (cd "$root" 2>/dev/null && rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")" 2>/dev/null) || true
  done
  echo "Removed from $root"
  exit
fi

if [[ -n $c_library ]]; then
  library=${APUS_C_LIBRARY:-}
  if [[ -z $library ]]; then
    library=.build/c-library
    Scripts/c-library.sh --output "$library"
  fi
  for file in "${library_files[@]}"; do
    case $file in
      share/doc/*) install -D -m 644 "${file##*/}" "$root/$file" ;;
      *) install -D -m 644 "$library/$file" "$root/$file" ;;
    esac
  done
  echo "Installed in $root: libtensorflowlite_c.so"
  exit
fi

bin=${APUS_BIN:-}
if [[ -z $bin ]]; then
  # A build folder of its own: objects for static libraries differ.
  build=(swift build -c release --static-swift-stdlib --scratch-path .build/static)
  for product in apus apus-benchmark; do "${build[@]}" --product "$product"; done
  bin=$("${build[@]}" --show-bin-path)
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
for shell in bash zsh fish; do
  "$bin/apus" --generate-completion-script "$shell" > "$stage/$shell"
done
put() { install -D -m "$1" "$2" "$root/$3"; }
put 755 "$bin/apus" bin/apus
put 755 "$bin/apus-benchmark" bin/apus-benchmark
put 644 Docs/apus.1 share/man/man1/apus.1
put 644 "$stage/bash" share/bash-completion/completions/apus
put 644 "$stage/zsh" share/zsh/site-functions/_apus
put 644 "$stage/fish" share/fish/vendor_completions.d/apus.fish
put 644 LICENSE.txt share/doc/apus/LICENSE.txt
put 644 NOTICE.txt share/doc/apus/NOTICE.txt
echo "Installed in $root: $("$root/bin/apus" --version)"
