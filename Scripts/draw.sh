#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws random graphs, rows of batches, programs and commands anew, and holds them against LiteRT's reference kernels and against
# properties. What is found is printed with its seed, and ends the script with 1.
#
#   Scripts/draw.sh [COUNT] [SEED]   1,000 graphs, and as many rows, a tenth as many programs, a third as many commands;
#                                    by default 1000, and a seed that is new each time
#
# A finding is kept as a test: its seed and number in Tools/goldens/README.md or Tools/machines/README.md, its mend with a case of its own.
# Requests to the server are drawn by Serving/Tests/random_requests.py.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-1000} seed=${2:-$((RANDOM * 32768 + RANDOM))}
if ! [[ $count =~ ^[1-9][0-9]{0,7}$ && $seed =~ ^[0-9]{1,10}$ ]]; then
  echo "error: COUNT and SEED are whole numbers, not '$count' and '$seed'" >&2
  exit 64
fi
Scripts/setup.sh --tests
swift build -c release --product apus
swift build -c release --product GraphProbe
bin="$(swift build -c release --show-bin-path)"
python=.build/python/bin/python
echo "seed $seed"
failed=0
"$python" Tools/goldens/graphs.py --apus-probe "$bin/GraphProbe" --seed "$seed" --count "$count" || failed=1
"$python" Tools/goldens/graphs.py --apus-probe "$bin/GraphProbe" --seed "$seed" --count $(((count + 9) / 10)) --kinds programs || failed=1
"$python" Tools/goldens/rows.py --apus-probe "$bin/GraphProbe" --seed "$seed" --count "$count" || failed=1
"$python" Tools/machines/commands.py --apus "$bin/apus" --seed "$seed" --count $(((count + 2) / 3)) || failed=1
exit "$failed"
