#!/usr/bin/env bash
# Sets Turnglass up and opens it: installs missing packages, builds, fetches the demo model, starts the window.
#   bash installer/run.sh [--no-launch] [--prefix DIR]
# --no-launch  set up only      --prefix DIR  also install the programs below DIR (bin/, share/)
# Safe to run again: finished parts are kept, a broken download is resumed, and once all is there no network is needed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
launch=yes prefix=
while [ $# -gt 0 ]; do
  case $1 in
    --no-launch) launch=no ;;
    --prefix) prefix=${2:?--prefix needs a folder}; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    -h|--help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "Unknown option: $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done

export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
# shellcheck source=installer/packages.sh
. "$here/packages.sh"

echo "1/3 Packages"
packages_install "$here/packages.txt"

echo "2/3 Build"
log=$top/build/setup.log
mkdir -p "$top/build"
if ! { cmake --preset release -S "$top" -DTG_TESTS=OFF && cmake --build "$top/build" --parallel "$(nproc)"; } >"$log" 2>&1; then
  tail -n 25 "$log" >&2
  echo "The build failed. The whole log is in build/setup.log." >&2
  exit 1
fi
[ -z "$prefix" ] || cmake --install "$top/build" --prefix "$prefix" >>"$log"

echo "3/3 Demo model"
models=${XDG_DATA_HOME:-$HOME/.local/share}/turnglass/models
python3 "$here/fetch_model.py" "$models"

program=${prefix:+$prefix/bin/turnglass}
program=${program:-$top/build/bin/turnglass}
echo "Ready: $program"
[ "$launch" = yes ] || exit 0
if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  echo "No display found (DISPLAY and WAYLAND_DISPLAY are empty). Start the program from a desktop session." >&2
  exit 1
fi
exec "$program"
