#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what emulate.sh needs, in the folder that APUS_EMULATOR names: Bochs, a kernel, busybox. Takes some four minutes.
#
#   prepare.sh [<Bochs's repository>]      without it, the repository is cloned from GitHub
#
# For Debian 12; needs git, g++, make, python3, lz4 and apt.
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
home=${APUS_EMULATOR:-$HOME/.cache/apus-emulator}
repository=${1:-https://github.com/bochs-emu/Bochs.git}
revision=783b58fd6  # After 3.0: the first release with Sapphire Rapids, which has AVX-VNNI and AVX-512 VNNI.
mkdir -p "$home/packages"
cd "$home"

if [ ! -x bochs/bochs ]; then
  rm -rf clone bochs
  git clone --quiet --no-checkout "$repository" clone
  git -C clone checkout --quiet $revision -- bochs
  mv clone/bochs bochs
  rm -rf clone
  patch --quiet -p1 < "$tools/bochs.patch"
  cd bochs
  export CFLAGS="-O2 -fomit-frame-pointer -pipe -march=native"
  export CXXFLAGS=$CFLAGS
  sh ./configure --enable-cpu-level=6 --enable-x86-64 --enable-all-optimizations --enable-avx --enable-evex --enable-pci \
    --disable-debugger --disable-plugins --disable-docbook --disable-usb --disable-voodoo --disable-sb16 \
    --disable-es1370 --disable-large-ramfile --with-nogui --without-x > configure.txt
  nice -n 19 make -j"$(nproc)" > make.txt 2>&1
  cd ..
fi
cp bochs/bios/VGABIOS-lgpl/VGABIOS-lgpl-latest.bin vga.bin

cd packages
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends:/ { print $2; exit }')
apt-get download "$kernel" busybox-static
for package in *.deb; do dpkg -x "$package" tree; done
cp tree/boot/vmlinuz-* ../vmlinuz
cp tree/bin/busybox ../busybox
cd ..
rm -rf packages kernel.img kernel.img.entry
python3 "$tools/machine.py" vmlinuz . 1536 0 ""
