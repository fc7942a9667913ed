#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the licence's line at the top of every source that lacks it; --check lists those instead.
#
# It is the first line, or the second after `#!` or `swift-tools-version`, which must be first.
set -euo pipefail
cd "$(dirname "$0")/.."
line='SPDX-License-Identifier: Apache-2.0'
missing=0
while IFS= read -r file; do
  [[ -f $file ]] || continue
  case $file in
    *.swift | *.h | *.modulemap) mark=// ;;
    *.py | *.sh) mark='#' ;;
    *) [[ $(head -c 2 "$file" | tr -d '\0') == '#!' ]] || continue; mark='#' ;;
  esac
  first=$(head -1 "$file")
  skip=0
  if [[ $first == '#!'* || $first == '// swift-tools-version'* ]]; then skip=1; fi
  [[ $(sed -n "$((skip + 1))p" "$file") != "$mark $line" ]] || continue
  if [[ ${1:-} == --check ]]; then
    echo "$file: its line $((skip + 1)) is not '$mark $line'" >&2
    missing=1
    continue
  fi
  # A blank line after it, unless there is one already, or the comment goes on.
  gap=$'\n'
  next=$(sed -n "$((skip + 1))p" "$file")
  if [[ -z $next || $mark == '#' ]]; then gap=; fi
  { ((skip == 0)) || echo "$first"; echo "$mark $line$gap"; tail -n "+$((skip + 1))" "$file"; } > "$file.new"
  cat "$file.new" > "$file"  # keeps the mode
  rm "$file.new"
done < <(git ls-files --cached --others --exclude-standard)
exit $missing
