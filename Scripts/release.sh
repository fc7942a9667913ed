#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the tag of a release, and verifies that a user gets that version from it.
#
#   Scripts/release.sh --check   says what stands in the way of a release, and changes nothing
#   Scripts/release.sh           dates the change log, commits it, makes the tag, verifies it
#
# State the version in Sources/Apus/Runtime+Version.swift first. Nothing is pushed: the last line says how.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(Scripts/version.sh)
problems=()
[[ -z $(git status --porcelain) ]] || problems+=("the working tree has changes that are not committed")
if git rev-parse -q --verify "refs/tags/$version" >/dev/null; then problems+=("the tag $version exists"); fi
newest=$(git tag --list '[0-9]*.[0-9]*.[0-9]*' | sort -V | tail -1)
if [[ -n $newest && $(printf '%s\n%s\n' "$newest" "$version" | sort -V | tail -1) != "$version" ]]; then
  problems+=("the tag $newest is newer than $version")
fi
unreleased=$(awk '/^## \[Unreleased\]/ {on=1; next} /^## / {on=0} on' CHANGELOG.md | grep -c '^- ' || true)
((unreleased > 0)) || problems+=("CHANGELOG.md has nothing under Unreleased")
if ((${#problems[@]})); then
  printf 'error: %s\n' "${problems[@]}" >&2
  exit 1
fi
echo "Version $version can be released: $unreleased entries in the change log"
[[ ${1:-} != --check ]] || exit 0

Scripts/test.sh --all

sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $(date -u +%F)/" CHANGELOG.md
git commit -q -m "Release $version" CHANGELOG.md
git tag -a -m "Apus $version" "$version"

# A user's view: a clone at the tag builds, and its program says the version.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if git -c advice.detachedHead=false clone -q --branch "$version" --depth 1 "file://$PWD" "$scratch/apus" &&
  swift build --package-path "$scratch/apus" -c release --product apus --quiet &&
  said=$("$(swift build --package-path "$scratch/apus" -c release --show-bin-path)/apus" --version) &&
  [[ $said == "apus $version" ]]; then
  echo "The tag $version builds, and says '$said'. Publish it: git push --follow-tags"
else
  git tag -d "$version" >/dev/null
  echo "error: a clone at the tag does not say 'apus $version'; the tag is gone, the commit is not" >&2
  exit 1
fi
