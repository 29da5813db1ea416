# Sourced by run.sh and tests/run.sh: which packages of packages.txt are missing, and installing them.
# shellcheck shell=bash

packages_wanted() { sed -e 's/#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$1"; }

packages_missing() { # FILE
  local name
  for name in $(packages_wanted "$1"); do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

# Installs what is missing, or says clearly what is lacking and returns 1.
packages_install() { # FILE
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "This set-up knows Debian 12, Ubuntu 24.04 and newer. Elsewhere install these by hand: $(packages_wanted "$1" | tr '\n' ' ')" >&2
    command -v cmake >/dev/null && return 0 || return 1
  fi
  missing=$(packages_missing "$1" | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing: $missing" >&2
      echo "Ask an administrator to run: apt-get install $missing" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing packages: $missing"
  # shellcheck disable=SC2086  # a list of names is meant to be split
  if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
    echo "These packages could not be installed: $missing" >&2
    echo "Check the network and the package sources, then run the command again." >&2
    return 1
  fi
}
