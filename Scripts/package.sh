#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a Debian package of apus and apus-benchmark in .build/debian; with --test also installs it, runs it, and
# removes it, as root or with sudo. With --c-library, the package libtensorflowlite-c-apus of the library with TensorFlow Lite's C API
# instead.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v dpkg-shlibdeps >/dev/null || { echo "error: dpkg-dev is needed" >&2; exit 1; }

version=$(Scripts/version.sh)
architecture=$(dpkg --print-architecture)
folder=$PWD/.build/debian
if [[ ${1:-} == --c-library ]]; then
  folder=$PWD/.build/debian-c-library stage=$folder/stage
  rm -rf "$folder"
  mkdir -p "$stage/DEBIAN" "$folder/debian"
  DESTDIR=$stage Scripts/install.sh --prefix /usr --c-library
  mv "$stage/usr/share/doc/libtensorflowlite-c" "$stage/usr/share/doc/libtensorflowlite-c-apus"
  mv "$stage/usr/share/doc/libtensorflowlite-c-apus/LICENSE.txt" "$stage/usr/share/doc/libtensorflowlite-c-apus/copyright"
  printf 'Source: apus\n\nPackage: libtensorflowlite-c-apus\nArchitecture: any\n' > "$folder/debian/control"
  depends=$(cd "$folder" && dpkg-shlibdeps -O stage/usr/lib/libtensorflowlite_c.so 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  cat > "$stage/DEBIAN/control" <<CONTROL
Package: libtensorflowlite-c-apus
Version: $version
Architecture: $architecture
Maintainer: the Apus authors <apus@example.com>
Installed-Size: $(du -ks --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends
Section: libs
Priority: optional
Description: TensorFlow Lite's C API by Apus, a neural inference engine in Swift
 The library libtensorflowlite_c.so with its headers and files for pkg-config and CMake: what programs
 in C, C++, Go and other languages load to run .tflite models. It contains its Swift runtime.
CONTROL
  package=$folder/libtensorflowlite-c-apus_${version}_$architecture.deb
  dpkg-deb --root-owner-group --build "$stage" "$package" >/dev/null
  echo "Built $package ($(du -h "$package" | cut -f1))"
  exit
fi
stage=$folder/stage
rm -rf "$folder"
mkdir -p "$stage/DEBIAN"
DESTDIR=$stage Scripts/install.sh --prefix /usr
strip --strip-unneeded "$stage/usr/bin/apus" "$stage/usr/bin/apus-benchmark"
gzip -9n "$stage/usr/share/man/man1/apus.1"
mkdir -p "$stage/usr/share/zsh/vendor-completions"
mv "$stage/usr/share/zsh/site-functions/_apus" "$stage/usr/share/zsh/vendor-completions/"
rmdir "$stage/usr/share/zsh/site-functions"
mv "$stage/usr/share/doc/apus/LICENSE.txt" "$stage/usr/share/doc/apus/copyright"

# dpkg-shlibdeps reads the libraries' packages and versions from the programs.
mkdir "$folder/debian"
printf 'Source: apus\n\nPackage: apus\nArchitecture: any\n' > "$folder/debian/control"
depends=$(cd "$folder" && dpkg-shlibdeps -O stage/usr/bin/apus stage/usr/bin/apus-benchmark 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat > "$stage/DEBIAN/control" <<CONTROL
Package: apus
Version: $version
Architecture: $architecture
Maintainer: the Apus authors <apus@example.com>
Installed-Size: $(du -ks --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends
Recommends: fonts-dejavu-core, libwebp7, libpangocairo-1.0-0
Suggests: libopenblas0
Section: science
Priority: optional
Description: runs .tflite models: detects objects, runs and inspects models
 Apus is a neural inference engine in Swift. The command apus detects objects in pictures,
 runs models on data of your own and lists what a model contains; apus-benchmark measures
 how fast models run on this machine.
CONTROL
package=$folder/apus_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$stage" "$package" >/dev/null
echo "Built $package ($(du -h "$package" | cut -f1))"
[[ ${1:-} == --test ]] || exit 0

run=()
if [[ $(id -u) -ne 0 ]]; then run=(sudo); fi
echo "== Installing, running and removing the package"
"${run[@]}" dpkg --install "$package" >/dev/null
trap '"${run[@]}" dpkg --purge apus >/dev/null' EXIT
[[ $(cd / && /usr/bin/apus --version) == "apus $version" ]]
(cd "$folder" && /usr/bin/apus detect > detections.txt && grep -q circle detections.txt)
/usr/bin/apus-benchmark --help >/dev/null
installed=$(dpkg-query --listfiles apus | grep -E '/(apus|apus-benchmark|_apus|apus\.fish|apus\.1\.gz|copyright)$')
trap - EXIT
"${run[@]}" dpkg --purge apus >/dev/null
for file in $installed; do
  [[ ! -e $file || -d $file ]] || { echo "error: $file was left behind" >&2; exit 1; }
done
echo "The package was installed, found shapes, and left nothing behind"
