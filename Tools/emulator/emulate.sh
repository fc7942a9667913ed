#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs commands on an emulated processor with AVX-512 VNNI and AVX-VNNI (Bochs, Sapphire Rapids) under Linux.
#
#   emulate.sh [-c MODEL] [-t SECONDS] <build folder> <command>...
#
# The folder's `apus`, `apus-benchmark` and `apusPackageTests.xctest` are in the guest's PATH, stripped. Files and folders
# that the commands name by absolute paths are there under the same paths. Each command is a line for busybox's shell; its
# output, its status and the guest's uptime are printed (its seconds are not ours). The last status is this script's.
# APUS_TEST_KERNELS goes to the guest; APUS_EMULATOR names the folder that prepare.sh made.
#   -c MODEL    another processor: sapphire_rapids (default), tigerlake (AVX-512 VNNI), arrow_lake (AVX-VNNI)
#   -t SECONDS  time limit (default 600)
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
home=${APUS_EMULATOR:-$HOME/.cache/apus-emulator}
[ -x "$home/bochs/bochs" ] || { echo "emulate.sh: there is no emulator; make it with prepare.sh" >&2; exit 2; }
model=sapphire_rapids limit=600
while getopts c:t: option; do
  case $option in
    c) model=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { sed -n "2,13s/^# *//p" "$0"; exit 2; }
build=$(cd "$1" && pwd); shift
work=$(mktemp -d)
emulator=
trap 'test -z "$emulator" || kill $emulator 2>/dev/null; rm -rf "$work"' EXIT INT TERM
tree=$work/tree
mkdir -p "$tree/build" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/tmp" "$tree/lib64" "$tree/bin" "$tree/etc"
cp "$home/busybox" "$tree/bin/busybox"
cp "$tools/init" "$tree/init"

# The programs that the commands name, without symbols, and their libraries under the paths where they are looked for.
for program in apus apus-benchmark apusPackageTests.xctest; do
  case "$*" in *"$program"*) ;; *) continue ;; esac
  # `apus` is part of the other names as well.
  if [ $program = apus ] && ! echo "$*" | grep -qE '(^|[^[:alnum:]])apus($|[^-P[:alnum:]])'; then continue; fi
  strip -o "$tree/build/$program" "$build/$program"
  ldd "$build/$program" | grep -oE '/[^ ]+' | while read -r library; do
    [ -e "$tree$library" ] || cp --parents -L "$library" "$tree"
  done
done
for word in $(printf '%s\n' "$*" | tr ' ="'"'" '\n\n\n\n' | grep '^/' | sort -u); do
  case $word in /tmp/*|/build/*|/dev/*|/proc/*|/bin/*|/tmp|/build) continue ;; esac
  [ -e "$word" ] && [ ! -e "$tree$word" ] && cp -r --parents -L "$word" "$tree"
done
{
  printf 'export APUS_TEST_KERNELS=%s\n' "${APUS_TEST_KERNELS:-x86-avx512vnni,x86-avxvnni}"
  for command in "$@"; do
    printf "cat <<'END_OF_COMMAND'\n> %s\nEND_OF_COMMAND\n" "$command"
    printf '( %s\n)\n' "$command"
    printf 'status=$?; echo "= status $status, $(cut -d" " -f1 /proc/uptime) s"\n'
  done
} > "$tree/commands"
(cd "$tree" && find . | ./bin/busybox cpio -o -H newc 2>/dev/null) > "$work/tree.img"
rm -rf "$tree"
ln -s "$home/kernel.img" "$home/kernel.img.entry" "$home/vga.bin" "$work"
size=$(stat -c %s "$work/tree.img")
python3 "$tools/machine.py" "$home/vmlinuz" "$work" 1536 "$size" "console=ttyS0,115200 quiet nokaslr acpi=off noapic \
nolapic nosmp pci=off no_timer_check panic=-1 mitigations=off loglevel=1 rdinit=/init ${EMULATE_KERNEL:-}"
sed "s/MODEL/$model/" "$tools/bochsrc" > "$work/bochsrc"
cd "$work"
timeout "$limit" nice -n 19 "$home/bochs/bochs" -q -f bochsrc > emulator.txt 2>&1 < /dev/null &
emulator=$!
touch out.txt
# The machine has no power to switch off: it is stopped when the commands are done.
tail -f -c +1 --pid=$emulator -s 0.1 out.txt | sed -u -e 's/\r$//' -e '/^=== end/q' | grep --line-buffered -v '^=== end' || true
kill $emulator 2>/dev/null || true
wait $emulator 2>/dev/null || true
emulator=
grep -q '^=== end' out.txt || { echo "emulate.sh: the machine stopped early" >&2; for file in log.txt emulator.txt; do tail -n 5 $file >&2; done; exit 1; }
exit "$(tr -d '\r' < out.txt | sed -n 's/^= status \([0-9]*\),.*/\1/p' | tail -1)"
