#!/bin/sh
# Builds the consumer with pkg-config:
# consumer_pkgconfig.sh CONSUMER-FOLDER PREFIX BUILD-FOLDER CC CXX
set -eu
. "$(dirname "$0")/skip.sh"
command -v pkg-config >/dev/null 2>&1 || skip package "no pkg-config"
rm -rf "$3"
mkdir -p "$3"
PKG_CONFIG_PATH=$2/lib/pkgconfig
export PKG_CONFIG_PATH
static=
test -e "$2/lib/libkiln.so" || static=--static
flags=$(pkg-config --cflags --libs $static kiln)
"$4" -std=c99 -Wall -Wextra -Werror "$1/consumer.c" -o "$3/consumer_c" $flags
"$5" -std=c++17 -Wall -Wextra -Werror "$1/consumer.cpp" -o "$3/consumer_cpp" \
    $flags
LD_LIBRARY_PATH=$2/lib "$3/consumer_c"
LD_LIBRARY_PATH=$2/lib "$3/consumer_cpp"
