#!/bin/sh
# opencl.sh - the commands of a build without OpenCL C.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
. "$(dirname "$0")/../support.sh"

echo 'kernel void nothing(void) { }' >some.cl
expect 1 run some.cl nothing --grid 1
says err "some.cl: this build of kiln has no OpenCL C"
expect 1 compile some.cl nothing --emit llvm
says err "some.cl: this build of kiln has no OpenCL C"
echo 'some.nothing()' >list
expect 1 precompile some.cl --workload list --target host -o some.pack
says err "some.cl: this build of kiln has no OpenCL C"

# The kernel language is there.
cat >fill.kiln <<'KILN'
kernel fill(x)
    x[global_id(0)] = 1
end
KILN
expect 0 run fill.kiln fill 'i32[2]=zeros' --grid 2 --print 0
line 1 "1 1"
