# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which versions of what is measured."""

import ctypes
import ctypes.util
import os
import platform
import re
import subprocess

import codegen
import host_tables
import peers

CL_PLATFORM_VERSION = 0x0901


def _kiln(bench):
    answer = subprocess.run([os.path.join(bench.bin, "kiln"), "--version"],
                            capture_output=True, text=True, check=True)
    return answer.stdout.split()[-1]


def _llvm(bench):
    """Of the LLVM that the programs were configured with, or ""."""
    try:
        with open(os.path.join(bench.build, "CMakeCache.txt"),
                  encoding="utf-8") as file:
            found = re.search(r"^KILN_LLVM_ROOT:PATH=(.+)$", file.read(),
                              re.MULTILINE)
        answer = subprocess.run([found.group(1) + "/bin/llvm-config",
                                 "--version"], capture_output=True, text=True,
                                check=True) if found else None
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip() if answer else ""


def opencl_platforms():
    """What each OpenCL platform says of its version."""
    path = ctypes.util.find_library("OpenCL")
    if not path:
        return []
    library = ctypes.CDLL(path)
    count = ctypes.c_uint(0)
    if library.clGetPlatformIDs(0, None, ctypes.byref(count)) or not count:
        return []
    ids = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count, ids, None)
    versions = []
    for one in ids:
        text = ctypes.create_string_buffer(512)
        if library.clGetPlatformInfo(ctypes.c_void_p(one), CL_PLATFORM_VERSION,
                                     ctypes.c_size_t(len(text)), text,
                                     None) == 0:
            versions.append(text.value.decode("utf-8", "replace").strip())
    return versions


def _beside_host(bench):
    """Of what kernels on the host are laid beside; {} without an answer."""
    script = ("import importlib.metadata as m\n"
              "for name in ('numba', 'taichi'):\n"
              "    print(name, m.version(name))")
    found = {}
    for command in (["gcc", "-dumpfullversion"],
                    [os.path.join(peers.environment_folder(bench), "bin",
                                  "python"), "-c", script]):
        try:
            answer = subprocess.run(command, capture_output=True, text=True,
                                    check=False).stdout
        except OSError:
            continue
        if command[0] == "gcc":
            answer = "gcc " + answer
        found.update(line.split() for line in answer.splitlines())
    return found


def find(bench):
    found = {"kiln": _kiln(bench), "python": platform.python_version()}
    llvm = _llvm(bench)
    if llvm:
        found["llvm"] = llvm
    for text in opencl_platforms():
        pocl = re.search(r"PoCL ([\d.]+)", text, re.IGNORECASE)
        if pocl:
            found["pocl"] = pocl.group(1)
        else:
            found["opencl"] = text
    if bench.part.split("/")[0] == host_tables.NAME:
        found.update(_beside_host(bench))
    if bench.part.startswith(codegen.NAME) or bench.peers and not bench.part:
        found.update(codegen.versions(bench))
    return found
