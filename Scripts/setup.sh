#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs: Debian libraries, as root or with sudo. Does nothing if everything is there.
#
#   --tests           what the engine's tests use: binutils for x86-64 and arm64, an emulator of arm64, ffmpeg, Debian's packaging
#                     tools, and LiteRT in a Python environment under .build/
#   --serving         what the server is built with: zlib
#   --cameras         what reads the server's cameras: ffmpeg
#   --serving-tests   what its tests use: curl, OpenSSL, Chromium, protoc, ZeroMQ, and clients in a Python environment under .build/
#   --tracking-tests  trackers, supervision and motmetrics in a Python environment under .build/
#   --evaluation-tests  pycocotools and scikit-learn, with LiteRT, in a Python environment under .build/
#   --video-tests     an emulator and a small system for cameras of the kernel's test driver, and GStreamer's server of RTSP
#   --cluster-tests   what the tests on Spark use: Java 17, and PySpark in a Python environment under .build/
set -euo pipefail
cd "$(dirname "$0")/.."

tests= serving= cameras= serving_tests= cluster_tests= tracking_tests= evaluation_tests= video_tests=
for option in "$@"; do
  case $option in
    --tests) tests=1 ;;
    --serving) serving=1 ;;
    --cameras) cameras=1 ;;
    --serving-tests) serving=1 serving_tests=1 ;;
    --tracking-tests) tracking_tests=1 ;;
    --evaluation-tests) evaluation_tests=1 ;;
    --video-tests) video_tests=1 ;;
    --cluster-tests) serving=1 cluster_tests=1 ;;
    *) echo "error: unknown option '$option': --tests, --serving, --cameras, --serving-tests, --tracking-tests, --evaluation-tests, --video-tests and --cluster-tests are known" >&2; exit 64 ;;
  esac
done

packages=(libopenblas0 libturbojpeg0-dev libpng-dev libcairo2-dev libwebp7 libpangocairo-1.0-0 pkg-config fonts-dejavu-core)
if [[ $tests ]]; then packages+=(binutils binutils-aarch64-linux-gnu qemu-user python3-venv git dpkg-dev ffmpeg); fi
if [[ $serving ]]; then packages+=(zlib1g-dev); fi
if [[ $cameras || $serving_tests ]]; then packages+=(ffmpeg); fi
if [[ $serving_tests ]]; then packages+=(python3-venv curl openssl chromium protobuf-compiler libzmq5); fi
if [[ $tracking_tests || $evaluation_tests ]]; then packages+=(python3-venv); fi
if [[ $video_tests ]]; then
  packages+=(python3-venv ffmpeg qemu-system-x86 busybox-static cpio dpkg)
  packages+=(python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good)
fi
if [[ $cluster_tests ]]; then
  packages+=(python3-venv)
  # Any Java of 17 or later will do.
  version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') || true
  if [[ ${version:-0} -lt 17 ]]; then packages+=(openjdk-17-jre-headless); fi
fi

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

# A Python environment under .build/ with the packages of requirements files; made anew when a file changes.
python_environment() {
  local folder=.build/$1 wanted
  shift
  wanted=$(cat "$@")
  if [[ -x $folder/bin/python && $(cat "$folder/requirements" 2>/dev/null) == "$wanted" ]]; then return; fi
  echo "Making a Python environment in $folder"
  mkdir -p .build
  [[ -x $folder/bin/python ]] || python3 -m venv "$folder"
  local files=()
  for file in "$@"; do files+=(-r "$file"); done
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${files[@]}"
  echo "$wanted" > "$folder/requirements"
}

if [[ $tests ]]; then python_environment python Tools/goldens/requirements.txt; fi
if [[ $serving_tests ]]; then
  python_environment serving-python Serving/Tests/requirements.txt
fi
if [[ $tracking_tests ]]; then python_environment tracking-python Tools/tracking/requirements.txt; fi
if [[ $evaluation_tests ]]; then python_environment evaluation-python Tools/evaluation/requirements.txt; fi
if [[ $cluster_tests ]]; then python_environment spark-python Serving/spark/requirements.txt; fi
