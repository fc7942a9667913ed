#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs 'apus cameras' and 'apus watch' on cameras of the kernel's test driver, vivid, in an emulated machine with Debian's kernel: every
# form of frames, controls, unplugging, a busy camera. Scripts/video-test.sh [APUS], by default .build/release/apus. Needs no camera and no
# rights but those to install packages (Scripts/setup.sh --video-tests --tests); takes some five minutes.
#
# Tools/video/camera.sh runs inside the machine; Tools/video/check.py reads what it wrote.
set -euo pipefail
cd "$(dirname "$0")/.."

apus=${1:-.build/release/apus}
python=.build/python/bin/python
[[ -x $apus ]] || { echo "error: there is no $apus: swift build -c release --product apus" >&2; exit 1; }
for program in qemu-system-x86_64 busybox cpio dpkg-deb; do
  command -v $program >/dev/null || {
    echo "error: $program is missing: Scripts/setup.sh --video-tests" >&2
    exit 1
  }
done

[[ -x $python ]] || { echo "error: there is no $python: Scripts/setup.sh --tests" >&2; exit 1; }

work=.build/video-test
mkdir -p $work

# Debian's newest kernel, which is only unpacked.
if [[ ! -f $work/kernel/ready ]]; then
  name=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*-amd64\)$/\1/p' | head -1)
  [[ $name ]] || { echo "error: no kernel is known: apt-get update" >&2; exit 1; }
  rm -rf $work/kernel && mkdir -p $work/kernel
  (cd $work/kernel && apt-get download -q "$name" && dpkg-deb -x ./*.deb . && rm ./*.deb)
  touch $work/kernel/ready
fi
kernel=$(ls $work/kernel/boot/vmlinuz-*)
version=${kernel##*/vmlinuz-}
busybox depmod -b $work/kernel "$version" 2>/dev/null

# The machine's files: busybox, the command with its libraries, the driver with what it depends on, in order.
root=$work/root
rm -rf $root && mkdir -p $root/{bin,dev,proc,sys,tmp,modules}
cp "$(command -v busybox)" $root/bin/busybox
cp "$apus" $root/bin/apus
ldd "$apus" | grep -o '/[^ )]*' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
ldd "$apus" | sed -n 's/.*=> \([^ ]*\)\/.*/\1/p' | sort -u | paste -sd: > $root/libraries
modules=$work/kernel/lib/modules/$version
count=100
for module in $(sed -n 's/^\(kernel.*\/vivid\.ko\): \(.*\)/\2 \1/p' "$modules/modules.dep" | awk '{ for (i = NF - 1; i > 0; i--) print $i; print $NF }'); do
  cp "$modules/$module" "$root/modules/$count-$(basename "$module")"
  count=$((count + 1))
done
cp Tools/video/camera.sh $root/init
chmod +x $root/init
(cd $root && find . | cpio -o -H newc --quiet) > $work/files

: > $work/results
timeout 900 qemu-system-x86_64 -machine accel=tcg -cpu max -smp 2 -m 1536 -no-reboot -nographic -monitor none \
  -kernel "$kernel" -initrd $work/files -append "console=ttyS0 quiet panic=-1" \
  -serial file:$work/console -serial file:$work/results </dev/null || true
"$python" Tools/video/check.py $work/results
