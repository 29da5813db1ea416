#!/usr/bin/env bash
# Builds the CPU kernels for AArch64 and checks them under qemu: on a processor with the dot product and on one without.
#   bash tests/neon/run.sh [BUILD FOLDER]
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build/neon}
# shellcheck source=installer/packages.sh
. "$top/installer/packages.sh"
packages_install "$top/tests/packages-neon.txt"
cmake -S "$top/tests/neon" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTG_WERROR="$([ -n "${CI:-}" ] && echo ON || echo OFF)"
cmake --build "$build" --parallel "$(nproc)"
for processor in max cortex-a72; do
  echo "Processor $processor"
  qemu-aarch64 -cpu "$processor" "$build/neon_check"
done
