#!/bin/sh
# Installs the parts of NVIDIA's toolkit that the tests use (nvJitLink, ptxas,
# libdevice, cuda.h and disassemblers) into a folder, from a Python package index:
# cuda-tools.sh FOLDER. It prints the toolkit's folder, for CUDA_PATH. If the
# index cannot be reached, it prints nothing and reports that on standard error.
# It needs no network if the parts are already installed.
set -euf
folder=${1:?usage: cuda-tools.sh FOLDER}
toolkit=$folder/lib/cuda
packages="nvidia-nvjitlink==13.* nvidia-cuda-nvcc==13.* nvidia-nvvm==13.*
    nvidia-cuda-runtime==13.* nvidia-cuda-nvdisasm==13.*
    nvidia-cuda-cuobjdump==13.*"
if ! test "$(cat "$folder/done" 2>/dev/null)" = "$packages"; then
    rm -rf "$folder"
    mkdir -p "$folder"
    python3 -m venv "$folder/venv" >"$folder/log" 2>&1 &&
        "$folder/venv/bin/python" -m pip install --quiet --no-deps \
            --disable-pip-version-check --target "$folder/lib" \
            $packages >>"$folder/log" 2>&1 || {
        echo "cuda-tools: they cannot be had here ($folder/log)" >&2
        exit 0
    }
    ln -s nvidia/cu13 "$toolkit"
    echo "$packages" >"$folder/done"
fi
(cd "$toolkit" && pwd -P)
