#!/bin/sh
# Draws the pictures of the course's chapters: what the solutions of the exercises do on the virtual GPU.
#
#   course_pictures.sh RUNG           write docs/course/images/*.svg
#   course_pictures.sh RUNG --check   exit with 1 where one differs, with 77 without clang
set -eu
rung=$(realpath "$1")
course=$(cd "$(dirname "$0")/../docs/course" && pwd)
images=$course/images
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
cd "$drawn"
for chapter in "$course"/[0-9]*.md; do
  name=$(basename "$chapter" .md)
  number=${name%%_*}
  "$rung" learn "$number" > /dev/null
  [ -f "$number.svg" ] || { echo "skipped: no clang here"; exit 77; }
  mv "$number.svg" "$name.svg"
done
if [ "${2-}" = --check ]; then
  for picture in *.svg; do cmp "$picture" "$images/$picture"; done
else
  mkdir -p "$images"
  cp ./*.svg "$images"
fi
