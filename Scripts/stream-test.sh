#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs 'apus watch' on streams that misbehave: over HTTP from ffmpeg, over RTSP from GStreamer's server. They are killed, stalled,
# restarted and change their size. Scripts/stream-test.sh [APUS [http] [stalled] [rtsp]], by default .build/release/apus. Takes two minutes.
#
# Scripts/setup.sh --video-tests installs what it needs; without GStreamer's server, the part over RTSP is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
exec /usr/bin/python3 Tools/video/streams.py "${1:-.build/release/apus}" "${@:2}"
