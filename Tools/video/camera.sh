#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first process of the machine of Scripts/video-test.sh: loads the driver, runs the command, writes what it said to the second serial
# line. Results are lines '=== NAME STATUS', then the command's lines; pictures are base64.
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=$(cat /libraries) HOME=/results
mkdir -p $HOME
cd $HOME
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
exec 2>/dev/console
stty -F /dev/ttyS1 raw
say() { echo "$@" > /dev/ttyS1; }

for module in /modules/*; do
  case $module in
    # One camera with a webcam and an HDMI input; it captures, and does nothing else.
    *vivid.ko) insmod $module node_types=0x1 num_inputs=2 input_types=0xc0 no_error_inj=0 ;;
    *) insmod $module ;;
  esac || say "=== insmod-$(basename $module) 1"
done
sleep 1

# Runs a command whose output is a result by this name.
run() {
  name=$1
  shift
  timeout 60 "$@" > out 2> errors < /dev/null
  status=$?
  say "=== $name $status"
  cat out errors > /dev/ttyS1
}

run cameras apus cameras
run cameras-json apus cameras --json
for code in $(grep -o '"code":"[^"]*"' out | cut -d'"' -f4); do
  rm -rf frames
  run "format-$code" apus watch /dev/video0 --size 320x180 --camera-format "$code" --frames 2 --json --save-frames frames
  picture=$(ls frames/*.png 2>/dev/null | tail -1)
  if [ "$picture" ]; then
    say "=== picture-$code 0"
    base64 $picture > /dev/ttyS1
  fi
done

run automatic apus watch /dev/video0 --frames 2 --json
run sizes apus watch /dev/video0 --size 640x360 --camera-rate 15 --frames 10 --json
run set apus watch /dev/video0 --control brightness=100 --control horizontal_flip=on --frames 1 --json
run set-seen apus cameras --json
run unknown-control apus watch /dev/video0 --control focus=1 --frames 1 --json
run unknown-format apus watch /dev/video0 --camera-format H264 --frames 1 --json
run no-camera apus watch /dev/video7 --frames 1 --json
run no-device apus watch /dev/null --camera-format YUYV --frames 1 --json

# Two at once.
apus watch /dev/video0 --frames 1000000 --json > first 2>&1 &
first=$!
sleep 6
run busy apus watch /dev/video0 --frames 1 --json
kill -INT $first
wait $first
say "=== interrupted $?"
tail -1 first > /dev/ttyS1

# Unplugged while it is read, and back four seconds later.
apus watch /dev/video0 --size 320x180 --camera-rate 15 --frames 1000000 --json > unplugged 2>&1 &
watch=$!
sleep 8
echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind
sleep 4
say "=== away 0"
wc -l < unplugged > /dev/ttyS1
echo vivid.0 > /sys/bus/platform/drivers/vivid/bind
sleep 10
ls /dev/video* > /dev/ttyS1
kill -INT $watch
wait $watch
say "=== unplugged $?"
wc -l < unplugged > /dev/ttyS1
tail -1 unplugged > /dev/ttyS1

# Unplugged for good: a live source with frames is tried again, and ends on request.
run defunct apus watch /dev/video0 --seconds 4 --json
say "=== end 0"
sync
sleep 1
reboot -f
