#!/bin/sh
# Adds inputs to the corpus of a fuzz target: corpus.sh TARGET FILE...
# Each is named after a digest of its bytes, so no input is added twice. The
# archive's bytes depend only on its contents.
set -eu
cd "$(dirname "$0")/.."
target=${1:?"which target?"}
shift
archive=tests/fuzz/corpus/$target.tar.xz
test -f "tests/fuzz/fuzz_$target.c" || {
    echo "there is no tests/fuzz/fuzz_$target.c" >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
test ! -f "$archive" || tar -C "$folder" -xJf "$archive"
for file; do
    cp "$file" "$folder/$(sha1sum "$file" | cut -d ' ' -f 1)"
done
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --format=ustar -C "$folder" -cf - . | xz -9e >"$archive.new"
mv "$archive.new" "$archive"
