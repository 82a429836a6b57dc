#!/bin/sh
# setup.sh - NVRTC and the disassemblers that codegen/ reads its code with.
# usage: setup.sh FOLDER
#
# They come from a Python package index; build/codegen-tools is where they are
# looked for. What cannot be had is told, and the measurements then say that it
# is absent. clang 22, for the other targets, is a package of the system.
set -eu
folder=${1:?usage: setup.sh FOLDER}
python3 -m venv "$folder/venv" || {
    echo "setup.sh: python3 makes no virtual environment in $folder" >&2
    exit 1
}
"$folder/venv/bin/python" -m pip install --quiet --no-deps --upgrade \
    --disable-pip-version-check --target "$folder/lib" \
    'nvidia-cuda-nvrtc==13.*' 'nvidia-cuda-nvdisasm==13.*' \
    'nvidia-cuda-cuobjdump==13.*' ||
    echo "setup.sh: NVRTC and its disassemblers cannot be had here" >&2
command -v clang-22 >/dev/null ||
    echo "setup.sh: there is no clang-22; it is a package of Debian's" >&2
