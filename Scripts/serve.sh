#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the server and serves: the embedded model as `shapes`, or what the arguments of
# apus-server say.
#   Scripts/serve.sh &
#   curl --data-binary @picture.jpg http://127.0.0.1:8000/v1/detect
set -euo pipefail
serving="$(cd "$(dirname "$0")/../Serving" && pwd)"
setup=(--serving)
# ffmpeg reads all cameras but devices.
for argument in "$@"; do case $argument in --camera | --camera=*) setup+=(--cameras) ;; esac; done
"$serving/../Scripts/setup.sh" "${setup[@]}" 1>&2
swift build -c release --package-path "$serving" --product apus-server 1>&2
exec "$(swift build -c release --package-path "$serving" --show-bin-path)/apus-server" "$@"
