# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Disassemblies of three machines as graphs: sass(), amdgpu() and spirv().

Each takes the disassembler's text and the kernel's name, and gives the
functions by their names. A kernel's own name is that of Kiln, which has a
prefix and a digest, or exactly that of the source.
"""

import re

from graph import Block, Function, Instruction

WIDTHS = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "64": 8,
          "128": 16}


def loaded(place, width):
    """The units of an access. Loads of no more than a word count apart: a
    loop for a stride of one, which vectors widened, has none of them."""
    narrow = {"ldn": 1} if place == "ldg" and width <= 4 else {}
    return {place: width, **narrow}


class Builder:
    """Puts instructions into blocks; an instruction that jumps ends one."""

    def __init__(self):
        self.blocks, self.ended = [], True

    def label(self, label):
        """A block begins; the one before goes on in it unless it jumped."""
        if self.blocks and not self.ended:
            self.blocks[-1].next.append(label)
        self.blocks.append(Block(label))
        self.ended = False

    def add(self, instruction):
        if not self.blocks or self.ended:
            self.blocks.append(Block(f"behind {len(self.blocks)}"))
            self.ended = False
        self.blocks[-1].instructions.append(instruction)
        return self.blocks[-1]

    def jump(self, targets, goes_on):
        """The block ends in a jump to targets, or past it."""
        self.blocks[-1].next += targets
        self.blocks[-1].may_end = not targets
        if goes_on:
            self.label(f"behind {len(self.blocks)}")
        else:
            self.ended = True


# ---- SASS ----

SASS_LINE = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?(\S+?)"
                       r"(?:\s+(.*?))?\s*;")
SASS_FLOPS = {"FFMA": 2, "FMUL": 1, "FADD": 1, "DFMA": 2, "DMUL": 1,
              "DADD": 1}
SASS_MEMORY = {"LDG": "ldg", "LD": "ldg", "LDS": "lds", "STG": "stg",
               "ST": "stg", "STS": "sts", "LDL": "ldl", "STL": "stl"}


def sass_units(op, rest):
    name, *parts = op.split(".")
    if name in SASS_FLOPS:
        return {"flop": SASS_FLOPS[name]}
    if name in SASS_MEMORY:
        width = next((WIDTHS[part] for part in parts if part in WIDTHS), 4)
        return loaded(SASS_MEMORY[name], width)
    if name == "MUFU":
        return {"mufu": 1}
    if name in ("FMNMX", "IMNMX", "VIMNMX", "VIADDMNMX", "DMNMX"):
        return {"minmax": 1}
    if name in ("FSETP", "DSETP", "FSET"):
        return {"fcmp": 1}
    if name in ("ATOM", "ATOMG", "ATOMS", "RED"):
        return {"atom": 1}
    return {}


SASS_KINDS = {
    "float": "FFMA FADD FMUL DFMA DADD DMUL MUFU FMNMX DMNMX FSETP DSETP FCHK "
             "FSEL FSET",
    "memory": "LDG LD STG ST LDS STS LDL STL ATOM ATOMG ATOMS RED",
    "constant": "LDC ULDC", "special": "S2R S2UR CS2R",
    "control": "BRA BSSY BSYNC EXIT BAR WARPSYNC RET CALL BREAK",
    "compare": "ISETP UISETP PLOP3 UPLOP3", "move": "MOV UMOV"}
SASS_KIND = {op: kind for kind, ops in SASS_KINDS.items()
             for op in ops.split()}


def sass_kind(op):
    """Of integers, "wide" are halves of an operation of 64 bits."""
    name, *parts = op.split(".")
    if name in SASS_KIND and "EX" not in parts:
        return SASS_KIND[name]
    if {"X", "EX", "WIDE", "HI"} & set(parts):
        return "wide"
    if "MOV" in parts or op == "IMAD.U32" or name == "HFMA2":
        return "move"
    return "integer"


def sass_is_cold(op, rest):
    """Only the record of an exception is claimed with CAS; the slow paths of
    divisions and roots are functions of the assembler's."""
    return ("CAS" in op.split(".") or
            op.startswith("CALL") and ("__cuda_sm" in rest or
                                       "slowpath" in rest))


def sass(text, kernel):
    functions, builder, name, waits = {}, None, None, {}

    def end():
        if builder and builder.blocks:
            functions[name] = Function(name, builder.blocks)

    for line in text.splitlines():
        label = re.match(r"([.$\w]+):$", line)
        if label:
            found = label.group(1)
            if found.startswith(".text."):
                continue
            if not found.startswith(".L_"):
                end()
                name, builder, waits = found, Builder(), {}
                builder.label(found)
            elif builder:
                builder.label(found)
            continue
        found = SASS_LINE.match(line)
        if not found or not builder:
            continue
        _sass_add(builder, waits, *found.groups())
    end()
    return functions


def _sass_add(builder, waits, predicate, op, rest):
    if op == "NOP":
        return
    rest = rest or ""
    block = builder.add(Instruction(op, rest, sass_units(op, rest),
                                    sass_kind(op), predicate))
    target = re.search(r"`\((.*?)\)", rest)
    base = op.split(".")[0]
    is_maybe = bool(predicate) or base == "BRA" and rest.lstrip()[:1] in "!UP"
    if sass_is_cold(op, rest) and len(builder.blocks) > 1:
        block.is_cold = True
    if base == "CALL":
        block.calls.append(target.group(1) if target else "?")
    elif base == "BSSY":
        waits[rest.split(",")[0]] = target.group(1)
    elif base == "BSYNC":
        there = waits.get(rest.split(",")[0])
        builder.jump([there] if there else [], is_maybe or not there)
    elif base in ("BRA", "JMP"):
        builder.jump([target.group(1)] if target else [], is_maybe)
    elif base in ("EXIT", "RET", "KILL", "BPT"):
        builder.jump([], is_maybe)


# ---- AMDGPU ----

AMD_LINE = re.compile(r"\t(\S+)\s*(.*?)\s*// ([0-9A-F]+):(.*)")
AMD_FLOPS = re.compile(r"v_(pk_|dual_)?(fma|fmac|mad|mac|mul|add|sub|subrev|"
                       r"fmaak|fmamk|fmac_legacy)_(f32|f64|f16)")
AMD_WIDTH = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b8": 1,
             "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16, "u8": 1,
             "i8": 1, "u16": 2, "i16": 2, "ubyte": 1, "sbyte": 1, "ushort": 2,
             "sshort": 2, "byte": 1, "short": 2, "dwordx8": 32,
             "dwordx16": 64, "b256": 32, "b512": 64, "u32": 4, "i32": 4}


def amd_units(op, rest):
    units = {}
    for part in [op] + [half.split()[0] for half in rest.split("::")[1:]]:
        found = AMD_FLOPS.match(part)
        if found:
            count = 2 if found.group(2)[:2] in ("fm", "ma") else 1
            count *= 2 if found.group(1) == "pk_" else 1
            units["flop"] = units.get("flop", 0) + count
    if re.match(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_", op):
        units["mufu"] = 1
    elif re.match(r"(v|s)_(dual_)?(pk_)?(min|max|med|minmax|maxmin)", op):
        units["minmax"] = 1
    elif re.match(r"v_cmpx?_\w+_f(32|64)", op):
        units["fcmp"] = 1
    elif re.match(r"(global|flat|ds|buffer)_atomic|ds_(add|min|max|or)", op):
        units["atom"] = 1
    else:
        units.update(_amd_memory(op))
    return units


def _amd_memory(op):
    found = re.match(r"(s|global|flat|ds|scratch|buffer)_(load|store|read|"
                     r"write)(2st64|2|_2addr_stride64|_2addr)?_(\w+)", op)
    if not found:
        return {}
    space, way, twice, what = found.groups()
    width = AMD_WIDTH.get(what.split("_")[0], 4) * (2 if twice else 1)
    is_load = way in ("load", "read")
    if space == "ds":
        return {"lds" if is_load else "sts": width}
    if space in ("scratch", "buffer"):
        return {"ldl" if is_load else "stl": width}
    return loaded("ldg" if is_load else "stg", width)


def amdgpu(text, kernel):
    """A disassembler without labels: jumps name addresses by offsets."""
    functions, name, rows = {}, None, []

    def end():
        if rows:
            functions[name] = _amd_function(name, rows)

    for line in text.splitlines():
        label = re.match(r"([0-9a-f]+) <(.*)>:$", line)
        if label:
            end()
            name, rows = label.group(2), []
            base = int(label.group(1), 16)
            continue
        found = AMD_LINE.match(line)
        if found:
            op, rest, address, more = found.groups()
            target = re.search(r"<.*?\+0x([0-9a-f]+)>", more)
            if target:
                target = base + int(target.group(1), 16)
            elif re.search(r"<.*>", more):
                target = base
            rows.append((int(address, 16), op, rest, target))
    end()
    return functions


def _amd_function(name, rows):
    rows = _amd_trimmed(rows)
    starts = {target for _, op, _, target in rows if target is not None}
    builder = Builder()
    builder.label(f"L{rows[0][0]:x}")
    for address, op, rest, target in rows:
        if address in starts and address != rows[0][0]:
            builder.label(f"L{address:x}")
        block = builder.add(Instruction(op, rest, amd_units(op, rest)))
        if "cmpswap" in op or "cmpst" in op:
            block.is_cold = True
        if op.startswith("s_cbranch"):
            builder.jump([f"L{target:x}"], True)
        elif op == "s_branch":
            builder.jump([f"L{target:x}"], False)
        elif op.startswith(("s_endpgm", "s_setpc", "s_trap")):
            builder.jump([], op == "s_trap")
        elif op.startswith("s_swappc"):
            block.calls.append("?")
    return Function(name, builder.blocks)


def _amd_trimmed(rows):
    """Without what fills the section behind the end."""
    while len(rows) > 1 and rows[-1][1] in ("s_nop", "s_code_end"):
        rows = rows[:-1]
    return rows


# ---- SPIR-V ----

SPIRV_SIZES = {"float": 4, "double": 8, "half": 2, "uint": 4, "int": 4,
               "ulong": 8, "long": 8, "uchar": 1, "char": 1, "ushort": 2,
               "short": 2, "bool": 1}
SPIRV_PLACES = {"CrossWorkgroup": ("ldg", "stg"), "Workgroup": ("lds", "sts"),
                "Function": ("ldl", "stl"), "Generic": ("ldg", "stg"),
                "UniformConstant": ("ldg", "stg")}
SPIRV_NOTHING = ("OpLabel", "OpFunctionParameter", "OpVariable", "OpLine",
                 "OpNoLine", "OpLoopMerge", "OpSelectionMerge", "OpUndef")


def spirv_size(name):
    found = re.fullmatch(r"%v(\d+)(\w+)", name)
    if found:
        return int(found.group(1)) * SPIRV_SIZES.get(found.group(2), 4)
    return SPIRV_SIZES.get(name.lstrip("%"), 4)


def _spirv_units(op, words, types):
    """types: of what a name is, which is a type's name."""
    if op in ("OpFMul", "OpFAdd", "OpFSub"):
        return {"flop": 1}
    if op == "OpExtInst":
        if words[2] in ("fma", "mad"):
            return {"flop": 2}
        if words[2] in ("fmax", "fmin", "s_max", "s_min", "u_max", "u_min",
                        "fmax_common", "fmin_common"):
            return {"minmax": 1}
        return {"mufu": 1}
    if op == "OpFDiv":
        return {"mufu": 1}
    if op in ("OpLoad", "OpStore"):
        pointer = words[1] if op == "OpLoad" else words[0]
        what = words[0] if op == "OpLoad" else types.get(words[1], "")
        found = re.match(r"%_ptr_(\w+?)_", types.get(pointer, ""))
        place = SPIRV_PLACES.get(found.group(1)) if found else None
        return loaded(place[op == "OpStore"], spirv_size(what)) if place \
            else {}
    if re.match("OpF(Ord|Unord)", op):
        return {"fcmp": 1}
    return {"atom": 1} if op.startswith("OpAtomic") else {}


def spirv(text, kernel):
    """Of the entry point alone: clang calls it from a copy of itself."""
    functions, builder, name, types = {}, None, None, {}
    for line in text.splitlines():
        found = re.match(r"\s*(?:(%\S+) = )?(Op\w+)\s*(.*)", line)
        if not found:
            continue
        result, op, rest = found.groups()
        words = rest.split()
        if result and words:
            types[result] = words[0]
        if op == "OpFunction":
            name, builder = result.lstrip("%"), Builder()
        elif op == "OpFunctionEnd":
            if builder.blocks:
                functions[name] = Function(name, builder.blocks)
            builder = None
        elif op == "OpLabel" and builder:
            builder.label(result)
        elif builder and builder.blocks and op not in SPIRV_NOTHING:
            _spirv_add(builder, op, words, types)
    return functions


def _spirv_add(builder, op, words, types):
    block = builder.add(Instruction(op, " ".join(words),
                                    _spirv_units(op, words, types)))
    if op == "OpAtomicCompareExchange":
        block.is_cold = True
    elif op == "OpFunctionCall":
        block.calls.append(words[1].lstrip("%"))
    elif op == "OpBranch":
        builder.jump(words[:1], False)
    elif op == "OpBranchConditional":
        builder.jump(words[1:3], False)
    elif op == "OpSwitch":
        builder.jump([one for one in words[1:] if one.startswith("%")], False)
    elif op in ("OpReturn", "OpReturnValue", "OpUnreachable"):
        builder.jump([], False)
