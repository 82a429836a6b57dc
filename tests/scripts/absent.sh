#!/bin/sh
# A test that could not be built: absent.sh SKIP-SH NAME WHY...
set -eu
. "$1"
name=$2
shift 2
skip package "$name: $*"
