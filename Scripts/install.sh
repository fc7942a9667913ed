#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs apus and apus-benchmark with their manual page and completions, or removes them.
#
#   Scripts/install.sh [--prefix DIR]               into DIR, by default /usr/local
#   Scripts/install.sh [--prefix DIR] --uninstall   out of it again
#
# The programs contain Swift's libraries, so no toolchain is needed where they run; libturbojpeg, libpng and cairo are.
# libwebp and Pango are used where they are installed.
# DESTDIR is put in front of every path, as packagers expect. APUS_BIN names a folder of programs built already.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=/usr/local
uninstall=
while (($#)); do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder}; shift 2 ;;
    --uninstall) uninstall=1; shift ;;
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

if [[ -n $uninstall ]]; then
  for file in "${files[@]}"; do
    rm -f "$root/$file"
    # Folders that nothing else uses go too, the prefix stays.
    (cd "$root" 2>/dev/null && rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")" 2>/dev/null) || true
  done
  echo "Removed from $root"
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
