#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what a release publishes, in a folder: the Debian package, bills of materials, and SHA256SUMS.
#
#   Scripts/artifacts.sh --output DIR [--key FILE]   with --key, SHA256SUMS is signed with that private key of SSH
#   Scripts/artifacts.sh --verify DIR --signers FILE  checks the signature and every sum, as a user does
#
# FILE of --signers has lines such as 'apus namespaces="apus-release" ssh-ed25519 AAAA…', which the project publishes.
set -euo pipefail
cd "$(dirname "$0")/.."

output= key= verify= signers=
while (($#)); do
  case $1 in
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    --key) key=${2:?--key needs a file}; shift 2 ;;
    --verify) verify=${2:?--verify needs a folder}; shift 2 ;;
    --signers) signers=${2:?--signers needs a file}; shift 2 ;;
    *) echo "error: unknown option $1; see the first lines of $0" >&2; exit 64 ;;
  esac
done
if [[ -n $verify ]]; then
  [[ -n $signers ]] || { echo "error: --verify needs --signers FILE: the public keys that you trust" >&2; exit 64; }
  ssh-keygen -Y verify -f "$signers" -I apus -n apus-release -s "$verify/SHA256SUMS.sig" < "$verify/SHA256SUMS"
  (cd "$verify" && sha256sum --check --strict SHA256SUMS)
  exit
fi
[[ -n $output ]] || { echo "error: --output DIR is missing; see the first lines of $0" >&2; exit 64; }
mkdir -p "$output"

version=$(Scripts/version.sh)
Scripts/package.sh
cp .build/debian/apus_*.deb "$output/"
for folder in . Serving; do
  swift package --package-path "$folder" resolve
  name=apus
  [[ $folder == . ]] || name=apus-serving
  Tools/sbom.py "$folder" --output "$output/$name-$version.spdx.json"
done
(cd "$output" && rm -f SHA256SUMS SHA256SUMS.sig && sha256sum -- *.deb *.json > SHA256SUMS)
if [[ -n $key ]]; then ssh-keygen -q -Y sign -f "$key" -n apus-release "$output/SHA256SUMS"; fi
ls -l "$output"
