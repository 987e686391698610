#!/bin/sh
# Installs the distribution's packages for the purposes given: build, peers, test, site, dist, format.
# Does nothing, and asks for no password, where all of them are there.
set -eu

die() {
  echo "setup: $*" >&2
  exit 1
}

packages_for() {
  case $1 in
    build) echo g++ cmake ninja-build pkg-config libhwy-dev liblzma-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxbyak-dev clang-19 ;;
    peers) echo libopenblas0-pthread libblis4-pthread "libdnnl2|libdnnl3" ;;
    test)
      echo libgtest-dev librapidcheck-dev libblas-test libblas3 liblapack3 python3 python3-numpy \
        python3-scipy python3-pytest python3-hypothesis $(packages_for site)
      ;;
    site) echo python3 python3-jinja2 python3-markdown-it python3-pygments ;;
    dist) echo libopenmpi-dev openmpi-bin libscalapack-openmpi-dev ;;
    format) echo clang-format-19 ;;
    *) die "'$1' is not one of build, peers, test, site, dist, format" ;;
  esac
}

installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

available() {
  apt-cache policy "$1" 2>/dev/null | grep 'Candidate:' | grep -qv '(none)'
}

# Prints the packages of the purposes that are not installed; of a|b, one is enough.
missing() {
  for purpose in "$@"; do
    for choice in $(packages_for "$purpose"); do
      found=
      for package in $(echo "$choice" | tr '|' ' '); do
        if installed "$package"; then found=yes; fi
      done
      [ -n "$found" ] || echo "$choice"
    done
  done
}

[ $# -gt 0 ] || die "name one or more of build, peers, test, site, dist, format"
for purpose in "$@"; do packages_for "$purpose" >/dev/null; done
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: no apt here; Debian's names of what is needed: $(missing "$@" | tr '\n' ' ')" >&2
  exit 0
fi
wanted=$(missing "$@")
[ -n "$wanted" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    die "not root, and no sudo here; as root run scripts/setup.sh $* for" $wanted
  root=sudo
fi
echo "setup: looking for" $wanted
$root apt-get update -qq

chosen=
for choice in $wanted; do
  for package in $(echo "$choice" | tr '|' ' '); do
    if available "$package"; then
      chosen="$chosen $package"
      continue 2
    fi
  done
  case " $(packages_for peers) " in
    *" $choice "*) echo "setup: this distribution has no $choice; that peer is left out" ;;
    *) die "this distribution has no package $choice" ;;
  esac
done
[ -n "$chosen" ] || exit 0
echo "setup: installing$chosen"
$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $chosen \
  >/dev/null
