#!/bin/sh
# Draws the pictures of the course's chapters: what the solutions of the exercises do on the virtual GPU.
#
#   course_pictures.sh RUNG           write course/*/picture.svg
#   course_pictures.sh RUNG --check   exit with 1 if one differs, with 77 without clang
set -eu
rung=$(realpath "$1")
course=$(cd "$(dirname "$0")/../course" && pwd)
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
cd "$drawn"
for chapter in "$course"/[0-9]*/README.md; do
  folder=$(dirname "$chapter")
  name=$(basename "$folder")
  number=${name%%_*}
  "$rung" learn "$number" > /dev/null
  [ -f "$number.svg" ] || { echo "skipped: no clang here"; exit 77; }
  if [ "${2-}" = --check ]; then
    cmp "$number.svg" "$folder/picture.svg"
  else
    cp "$number.svg" "$folder/picture.svg"
  fi
done
