# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilers and disassemblers: from a case and a target to its counts.

A Bench knows where the tools are, and compiles into a folder of its own.
What is absent is None; missing() tells why.
"""

import ctypes
import glob
import os
import re
import shutil
import subprocess

import count
import machines
import x86

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
ROCM = ("gfx90a", "gfx942", "gfx1100")
SM = "sm_90"
VARIANTS = {"unchecked": ["bounds=off"], "checked": ["bounds=on"],
            "fast": ["bounds=off", "fast=on"]}


class Failed(Exception):
    """A compiler refused something, or a disassembly has no kernel."""


class Absent(Failed):
    """Kiln lacks a tool."""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True,
                          check=False, **more)
    if done.returncode:
        raise Failed(f"{os.path.basename(command[0])}: "
                     f"{(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout


def first_of(*names):
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    return None


def device_libraries(folder, target, fast):
    """ROCm's, as the driver would choose them, also of versions that it does
    not know, and of a processor that these do not know yet."""
    version = {"gfx90a": "90a", "gfx942": "940", "gfx1100": "1036"}[target]
    wide = "off" if target.startswith("gfx1") else "on"
    on = "on" if fast else "off"
    return [os.path.join(folder, f"{name}.bc") for name in (
        "opencl", "ocml", "ockl", f"oclc_isa_version_{version}",
        "oclc_abi_version_500", f"oclc_wavefrontsize64_{wide}",
        "oclc_correctly_rounded_sqrt_off", f"oclc_unsafe_math_{on}",
        f"oclc_finite_only_{on}", "oclc_daz_opt_off")]


def release_of(cubin):
    """Of the assembler of CUDA's that made it. Without one, Kiln gives PTX."""
    with open(cubin, "rb") as file:
        found = re.search(rb"release (\d+\.\d+)", file.read())
    if not found:
        raise Absent("no assembler of CUDA's")
    return found.group(1).decode()


def waves(registers, there, granule, most):
    """How many a multiprocessor of NVIDIA's, or a SIMD of AMD's, holds: as far
    as registers of lanes decide."""
    return min(most, there // (max(-(-registers // granule), 1) * granule))


class Nvrtc:
    """NVIDIA's run-time compiler, called in this process."""

    def __init__(self, path):
        self._lib = ctypes.CDLL(path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def _text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self._lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self._lib, f"nvrtcGet{what}")(program, text)
        return text.raw

    def compile(self, path, options):
        """A cubin's bytes."""
        with open(path, "rb") as file:
            source = file.read()
        program = ctypes.c_void_p()
        self._lib.nvrtcCreateProgram(ctypes.byref(program), source,
                                     os.path.basename(path).encode(), 0,
                                     None, None)
        words = [one.encode() for one in options]
        failed = self._lib.nvrtcCompileProgram(
            program, len(words), (ctypes.c_char_p * len(words))(*words))
        try:
            if failed:
                log = self._text(program, "ProgramLog").rstrip(b"\0")
                raise Failed(f"{path}: {log.decode()}")
            return self._text(program, "CUBIN")
        finally:
            self._lib.nvrtcDestroyProgram(ctypes.byref(program))


class Bench:
    """Tools, and a folder for what they make.

    kiln is the command. CUDA's tools are those of build/codegen-tools, else
    of CUDA_PATH, else of PATH.
    """

    def __init__(self, kiln, folder):
        self.kiln, self.folder = kiln, folder
        self.assembler = None   # the one that Kiln used last
        self._environment = {**os.environ, "KILN_CACHE": "off"}
        tests = os.path.join(ROOT, "build/cuda-tools/lib/cuda")
        if os.path.exists(tests):
            self._environment.setdefault("CUDA_PATH", tests)
        toolkits = [os.path.join(ROOT,
                                 "build/codegen-tools/lib/nvidia/cu13"),
                    *(os.environ[name] for name in ("CUDA_PATH", "CUDA_HOME")
                      if os.environ.get(name))]
        found = [path for toolkit in toolkits for path
                 in glob.glob(os.path.join(toolkit, "lib*/libnvrtc.so.*"))]
        self.nvrtc = Nvrtc(found[0]) if found else None
        places = ":".join([os.path.join(one, "bin") for one in toolkits] +
                          [os.environ.get("PATH", "")])
        self.nvdisasm = shutil.which("nvdisasm", path=places)
        self.cuobjdump = shutil.which("cuobjdump", path=places)
        self.clang = first_of("clang-22")
        self.objdump = first_of("llvm-objdump-22", "llvm-objdump")
        self.readelf = first_of("llvm-readelf-22", "llvm-readelf")
        self.spirv_dis = first_of("spirv-dis")
        self.spirv_opt = first_of("spirv-opt")
        libraries = glob.glob("/usr/lib/*/amdgcn/bitcode")
        self.device_libraries = libraries[0] if libraries else None

    def missing(self, target):
        """Why a target cannot be measured on Kiln's side, or None."""
        wanted = {"sm": ("nvdisasm", "cuobjdump"), "gf": ("objdump",
                  "readelf"), "sp": ("spirv_dis",),
                  "x8": ("objdump",)}[target[:2]]
        absent = [name for name in wanted if not getattr(self, name)]
        return f"no {absent[0]}" if absent else None

    def peer(self, target):
        """The compiler that Kiln is laid beside, or None."""
        if target[:2] == "sm":
            return "nvrtc" if self.nvrtc else None
        if target[:2] == "gf" and not self.device_libraries:
            return None
        return "clang" if self.clang else None

    def _path(self, name):
        return os.path.join(self.folder, name)

    def by_kiln(self, case, target, variant):
        """The path of the binary; it is there until the next one."""
        full = {"sm": "cuda:", "gf": "rocm:", "sp": "",
                "x8": "host:"}[target[:2]] + target
        out = self._path("kiln.bin")
        settings = list(VARIANTS[variant])
        if case.is_fixed:
            settings.append("group=" + ",".join(str(one) for one
                                                in case.block))
        command = [self.kiln, "compile", case.path(".kiln"), case.name,
                   *(one.kiln_type() for one in case.of_kiln()), "--emit",
                   "binary", "--target", full, "-o", out]
        for setting in settings:
            command += ["--set", setting]
        run(command, env=self._environment)
        if target[:2] == "sm":
            self.assembler = release_of(out)
        return out

    def by_peer(self, case, target, variant):
        """The same of the vendor's compiler."""
        out = self._path("peer.bin")
        fast = variant == "fast"
        if target[:2] == "sm":
            cubin = self.nvrtc.compile(case.path(".cu"), [
                f"--gpu-architecture={target}", "--std=c++17",
                *(["--use_fast_math"] if fast else [])])
            with open(out, "wb") as file:
                file.write(cubin)
        else:
            command = self._clang(case, target, fast) + ["-o", out]
            run(command)
        return out

    def _clang(self, case, target, fast):
        """In OpenCL C 1.2 all groups are full."""
        command = [self.clang, "-x", "cl", "-cl-std=CL1.2", "-O3",
                   *(["-cl-fast-relaxed-math"] if fast else []),
                   case.path(".cl")]
        if target == "spirv":
            return command + ["--target=spirv64", "-c"]
        command += ["--target=amdgcn-amd-amdhsa", f"-mcpu={target}",
                    "-nogpulib", "-mcode-object-version=5"]
        for name in device_libraries(self.device_libraries, target, fast):
            command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", name]
        return command

    def functions(self, case, target, path):
        """The graphs of a binary's functions, by name."""
        kind = target[:2]
        if kind == "sm":
            return machines.sass(run([self.nvdisasm, "-c", path]), case.name)
        if kind == "gf":
            return machines.amdgpu(run([self.objdump, "-d", path]), case.name)
        if self.spirv_opt:
            run([self.spirv_opt, "-O", path, "-o", path + ".opt"])
            path += ".opt"
        return machines.spirv(run([self.spirv_dis, path]), case.name)

    def measure(self, case, target, path):
        """What count.py counts, and what the binary takes of the machine; for
        the host, what x86.py counts."""
        if target[:2] == "x8":
            return x86.profile(run([self.objdump, "-d", "--no-show-raw-insn",
                                    path]))
        counts = count.profile(self.functions(case, target, path), case)
        if target[:2] == "sm":
            return {**counts, **self._sass_resources(path)}
        if target[:2] == "gf":
            return {**counts, **self._amd_resources(path, target)}
        return counts

    def _sass_resources(self, path):
        text = run([self.cuobjdump, "-res-usage", path])
        parts = dict(re.findall(r"Function (\S+?):\s+(.*)", text))
        part = parts[count.chosen(parts)[0]]
        numbers = dict(re.findall(r"(REG|STACK|SHARED|LOCAL):(\d+)", part))
        registers = int(numbers["REG"])
        return {"registers": registers,
                "stack": int(numbers["STACK"]) + int(numbers["LOCAL"]),
                "shared": int(numbers["SHARED"]),
                "waves": waves(registers, 2048, 8, 64)}

    def _amd_resources(self, path, target):
        text = run([self.readelf, "--notes", path])
        parts = {re.search(r"\.symbol:\s+'?(\S+?)\.kd", part).group(1): part
                 for part in re.split(r"\n\s+- \.(?=agpr_count|args:\s*\n)",
                                      text)[1:] if ".symbol:" in part}
        part = parts[count.chosen(parts)[0]]
        numbers = dict(re.findall(r"(\w+):\s+(\d+)", part))
        registers = int(numbers["vgpr_count"])
        size = (1536, 24, 16) if target.startswith("gfx11") else (512, 8, 8)
        return {"registers": registers,
                "agprs": int(numbers.get("agpr_count", 0)),
                "sgprs": int(numbers["sgpr_count"]),
                "stack": int(numbers["private_segment_fixed_size"]),
                "shared": int(numbers["group_segment_fixed_size"]),
                "waves": waves(registers, *size)}

    def versions(self):
        found = {}
        if self.nvrtc:
            found["nvrtc"] = self.nvrtc.version
        if self.clang:
            text = run([self.clang, "--version"])
            found["clang"] = re.search(r"version (\S+)", text).group(1)
        return found
