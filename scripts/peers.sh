#!/bin/sh
# Fills a Python virtual environment with the newest peers of the CPU ladders: OpenBLAS, AOCL-BLAS,
# MKL and oneDNN from PyPI (about 1 GB). `rung bench` opens them there, before those of the distribution.
# The folder is $RUNG_PEERS, or rung/peers in $XDG_DATA_HOME (default: ~/.local/share).
set -eu

die() {
  echo "peers: $*" >&2
  exit 1
}

folder=${RUNG_PEERS:-${XDG_DATA_HOME:-$HOME/.local/share}/rung/peers}
case $folder in /*) ;; *) die "RUNG_PEERS is '$folder'; an absolute path is needed" ;; esac
[ "$(uname -m)" = x86_64 ] || die "these peers have wheels for x86_64 only, and this is $(uname -m)"
command -v python3 >/dev/null || die "python3 is missing"

python3 -m venv "$folder" || die "python3 cannot create $folder; on Debian it needs python3-venv"
# oneDNN: the newest wheel for GNU OpenMP, whose number of threads can be set. Without dependencies:
# MKL uses GNU OpenMP, too, and none of Intel's runtime libraries.
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --upgrade \
  'scipy-openblas32>=0.3.29' 'aoclda>=5' 'mkl>=2025' 'onednn-cpu-gomp>=2023.2' ||
  die "pip could not install the peers"

# One name for each, where the bench looks.
mkdir -p "$folder/peers"
link() {
  found=$(find "$folder" -path "$folder/peers" -prune -o -name "$2" -print | sort | tail -n 1)
  [ -n "$found" ] || die "$2 is not in $folder"
  ln -sf "$found" "$folder/peers/$1"
  echo "peers: $found"
}
link libopenblas.so libscipy_openblas.so
link libaocl_openmp.so 'libomp-*.so'
link libaocl_blas.so 'libblis-mt-*.so*'
link libmkl_rt.so 'libmkl_rt.so*'
link libdnnl.so 'libdnnl.so.3'
