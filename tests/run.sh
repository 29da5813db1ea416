#!/usr/bin/env bash
# Builds and runs all tests; ends with ctest's summary.
#   bash tests/run.sh [--perf] [--neon] [--fuzz] [--no-sanitizers] [-R NAME]
# --perf           also the time budgets (label perf), which want a quiet machine
# --neon           also the kernels for AArch64, cross-compiled and run under qemu
# --fuzz           fuzzing for ten minutes instead of one
# --no-sanitizers  leaves out the second build of the engine with address and undefined-behaviour sanitizers, and fuzzing
# -R NAME          only tests whose name matches
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
perf=no neon=no fuzz=() sanitizers=yes only=()
while [ $# -gt 0 ]; do
  case $1 in
    --perf) perf=yes ;;
    --neon) neon=yes ;;
    --fuzz) fuzz=(--long) ;;
    --no-sanitizers) sanitizers=no ;;
    -R) only=(-R "${2:?-R needs a name}"); sanitizers=no; shift ;;
    -h|--help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "Unknown option: $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
export HOME=${HOME:-/root}
# shellcheck source=installer/packages.sh
. "$top/installer/packages.sh"
packages_install "$top/installer/packages.txt"
packages_install "$top/tests/packages.txt"

models=${XDG_DATA_HOME:-$HOME/.local/share}/turnglass/models
python3 "$top/installer/fetch_model.py" "$models" || echo "The tests that need the demo model say so and check nothing."
export TG_TEST_MODELS=${TG_TEST_MODELS:-$models}
if [ -d "$top/../shared/conformance" ]; then
  echo "Conformance data: found, used."
else
  echo "Conformance data: not found beside the project; the tests use their own data in tests/data."
fi

werror=$([ -n "${CI:-}" ] && echo ON || echo OFF)
build() { # FOLDER, cmake options..., then -- targets
  local folder=$1 log=$1/build.log options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  mkdir -p "$folder"
  if ! { cmake -S "$top" -B "$folder" -G Ninja "${options[@]}" && cmake --build "$folder" --parallel "$(nproc)" ${1:+--target "$@"}; } >"$log" 2>&1; then
    grep -E "error|Error|FAILED" "$log" | head -n 30 >&2 || true
    tail -n 20 "$log" >&2
    echo "The build in $folder failed; the whole log is in $log." >&2
    exit 1
  fi
}

status=0
if [ "$sanitizers" = yes ]; then
  echo "Engine tests with sanitizers"
  build "$top/build/asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DTG_SANITIZE=address,undefined \
    -DTG_HEADLESS=ON -DTG_TESTS=ON -DTG_WERROR="$werror" -- engine_tests
  (cd "$top/build/asan" && ctest --output-on-failure -L '^engine$' --parallel 2) || status=1
  echo "Fuzzing"
  bash "$top/tests/fuzz/run.sh" "${fuzz[@]}" || status=1
fi

echo "All tests"
build "$top/build" -DCMAKE_BUILD_TYPE=Release -DTG_TESTS=ON -DTG_WERROR="$werror"
labels=(-LE perf)
[ "$perf" = no ] || labels=()
cd "$top/build"
ctest --output-on-failure "${labels[@]}" "${only[@]}" --parallel 2 || status=1
if [ "$neon" = yes ]; then
  bash "$top/tests/neon/run.sh" || status=1
fi
exit $status
