#!/usr/bin/env bash
# Builds the fuzz targets with clang, address and undefined-behaviour sanitizers, and runs them from seeds made by code. Nothing found: exit 0.
#   bash tests/fuzz/run.sh [--long] [--seconds N] [BUILD FOLDER]
# One minute in all; --long: 10 minutes of model files and 5 of each other kind; --seconds N: N of each kind.
# What was found lies in BUILD FOLDER/found; run the target on the file to see it again. The corpus is kept in BUILD FOLDER/corpus.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$top/build/fuzz gguf=60 others=20 seed=1   # the short run takes the same way each time: what it finds belongs to the change
while [ $# -gt 0 ]; do
  case $1 in
    --long) gguf=600 others=300 seed=0 ;;
    --seconds) gguf=${2:?--seconds needs a number} others=$2 seed=0; shift ;;
    -*) echo "Unknown option: $1" >&2; exit 2 ;;
    *) build=$1 ;;
  esac
  shift
done

probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
if ! command -v clang++ >/dev/null || ! echo "$probe" | clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null; then
  echo "Fuzzing is left out: it needs clang with libFuzzer (package clang)."
  exit 0
fi
mkdir -p "$build/found"
log=$build/build.log
if ! { cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DCMAKE_CXX_COMPILER=clang++ \
         -DTG_HEADLESS=ON -DTG_TESTS=ON -DTG_FUZZ=ON -DTG_SANITIZE=fuzzer-no-link,address,undefined &&
       cmake --build "$build" --parallel "$(nproc)" --target fuzz_gguf fuzz_template fuzz_tokenizer fuzz_snapshot fuzz_seeds; } >"$log" 2>&1; then
  grep -E "error|FAILED" "$log" | head -n 20 >&2 || true
  echo "The fuzz targets cannot be built; the whole log is in $log." >&2
  exit 1
fi
"$build/fuzz/fuzz_seeds" "$top/tests/data/templates/jinja_cases.json" "$build/seeds"

fuzz() { # KIND SECONDS LONGEST INPUT
  local corpus=$build/corpus/$1 out=$build/$1.log
  mkdir -p "$corpus"
  if "$build/fuzz/fuzz_$1" -seed="$seed" -max_total_time="$2" -max_len="$3" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$build/found/$1-" "$corpus" "$build/seeds/$1" >"$out" 2>&1; then
    echo "fuzz $1: $(grep -oE 'Done [0-9]+ runs in [0-9]+ second' "$out" | tail -n 1)s, nothing found"
  else
    tail -n 40 "$out" >&2
    echo "fuzz $1: a fault was found; its input is in $build/found." >&2
    return 1
  fi
}

# Side by side: model files, and the other kinds one after the other.
status=0
fuzz gguf "$gguf" 200000 & model_files=$!
for kind in template tokenizer snapshot; do fuzz "$kind" "$others" 4096 || status=1; done
wait "$model_files" || status=1
exit $status
