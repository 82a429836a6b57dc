/* foreign_intrinsics.c - which intrinsics of LLVM a module may call. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"

/*
 * Most of LLVM's intrinsics only compute, and foreign_support.c knows which of
 * them have code. This file refuses those that read or change the state of the
 * thread which happens to run the code; those that end a process; those that
 * need a runtime which is not there; and those of another target, on which LLVM
 * would end the process. Names are compared by their beginning, since
 * overloaded intrinsics have their types at the end.
 */

typedef struct refusal {
    const char *name;
    const char *why;
} refusal;

static const char of_stack[] = "it looks at the stack of the thread that runs";
static const char of_thread[] = "it looks at the thread that runs";
static const char of_mode[] =
    "it reads or changes the floating-point mode of the thread that runs";
static const char of_end[] =
    "it ends the process; exceptions are raised by kiln_raise";
static const char of_unwinding[] = "nothing unwinds kernels";
static const char of_collector[] = "kernels have no garbage collector";
static const char of_coroutines[] = "kernels have no coroutines";
static const char of_runtime[] = "it needs a runtime that is not there";
static const char of_linker[] = "it needs a linker that knows all types";
static const char of_lengths[] = "no target has vectors of unknown length";
static const char of_tiles[] = "a process must ask its system for it first";
static const char of_system[] = "only the system may, a process dies of it";

static const refusal refusals[] = {
    {"llvm.addressofreturnaddress", of_stack},
    {"llvm.adjust.trampoline", of_runtime},
    {"llvm.call.preallocated.", of_runtime},
    {"llvm.clear_cache", of_runtime},
    {"llvm.coro.", of_coroutines},
    {"llvm.debugtrap", of_end},
    {"llvm.eh.", of_unwinding},
    {"llvm.experimental.deoptimize", of_runtime},
    {"llvm.experimental.gc.", of_collector},
    {"llvm.experimental.guard", of_runtime},
    {"llvm.experimental.patchpoint", of_runtime},
    {"llvm.experimental.stackmap", of_runtime},
    {"llvm.experimental.widenable.condition", of_runtime},
    {"llvm.frameaddress", of_stack},
    {"llvm.gcread", of_collector},
    {"llvm.gcroot", of_collector},
    {"llvm.gcwrite", of_collector},
    {"llvm.get.dynamic.area.offset", of_stack},
    {"llvm.get.fpenv", of_mode},
    {"llvm.get.fpmode", of_mode},
    {"llvm.icall.branch.funnel", of_linker},
    {"llvm.init.trampoline", of_runtime},
    {"llvm.instrprof.", of_runtime},
    {"llvm.localaddress", of_stack},
    {"llvm.localescape", of_stack},
    {"llvm.localrecover", of_stack},
    {"llvm.loop.decrement", of_runtime},
    {"llvm.memcpy.element.", of_runtime},
    {"llvm.memmove.element.", of_runtime},
    {"llvm.memset.element.", of_runtime},
    {"llvm.objc.", of_runtime},
    {"llvm.pcmarker", of_runtime},
    {"llvm.ptrauth.", of_runtime},
    {"llvm.public.type.test", of_linker},
    {"llvm.read_register", of_thread},
    {"llvm.read_volatile_register", of_thread},
    {"llvm.reset.fpenv", of_mode},
    {"llvm.reset.fpmode", of_mode},
    {"llvm.returnaddress", of_stack},
    {"llvm.seh.", of_unwinding},
    {"llvm.set.fpenv", of_mode},
    {"llvm.set.fpmode", of_mode},
    {"llvm.set.loop.", of_runtime},
    {"llvm.set.rounding", of_mode},
    {"llvm.sponentry", of_stack},
    {"llvm.stackguard", of_stack},
    {"llvm.stackprotector", of_stack},
    {"llvm.start.loop.", of_runtime},
    {"llvm.swift.", of_runtime},
    {"llvm.test.set.loop.", of_runtime},
    {"llvm.test.start.loop.", of_runtime},
    {"llvm.thread.pointer", of_thread},
    {"llvm.threadlocal.address", of_thread},
    {"llvm.trap", of_end},
    {"llvm.type.checked.load", of_linker},
    {"llvm.type.test", of_linker},
    {"llvm.ubsantrap", of_end},
    {"llvm.vscale", of_lengths},
    {"llvm.write_register", of_thread},
    {"llvm.write_volatile_register", of_thread},
    /* On x86: registers of the thread, tiles, transactions. */
    {"llvm.x86.clui", of_thread},
    {"llvm.x86.flags.", of_thread},
    {"llvm.x86.fxrstor", of_mode},
    {"llvm.x86.int", of_end},
    {"llvm.x86.ldtilecfg", of_tiles},
    {"llvm.x86.rdfsbase", of_thread},
    {"llvm.x86.rdgsbase", of_thread},
    {"llvm.x86.senduipi", of_thread},
    {"llvm.x86.sse.ldmxcsr", of_mode},
    {"llvm.x86.sse.stmxcsr", of_mode},
    {"llvm.x86.sse3.monitor", of_system},
    {"llvm.x86.sse3.mwait", of_system},
    {"llvm.x86.sttilecfg", of_tiles},
    {"llvm.x86.stui", of_thread},
    {"llvm.x86.tdp", of_tiles},
    {"llvm.x86.testui", of_thread},
    {"llvm.x86.tile", of_tiles},
    {"llvm.x86.wrfsbase", of_thread},
    {"llvm.x86.wrgsbase", of_thread},
    {"llvm.x86.wrpkru", of_thread},
    {"llvm.x86.wrss", of_thread},
    {"llvm.x86.wruss", of_thread},
    {"llvm.x86.xabort", of_thread},
    {"llvm.x86.xbegin", of_thread},
    {"llvm.x86.xend", of_thread},
    {"llvm.x86.xrstor", of_mode},
    {"llvm.x86.xsave", of_mode},
    {"llvm.x86.xsetbv", of_mode},
};

/* What follows "llvm." in intrinsics of one target. */
static const char *const targets[] = {
    "aarch64.",   "amdgcn.", "arm.",  "bpf.",  "dx.",   "hexagon.",
    "loongarch.", "mips.",   "nvvm.", "ppc.",  "r600.", "riscv.",
    "s390.",      "spv.",    "ve.",   "wasm.", "x86.",  "xcore.",
};

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static int is_of_a_target(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (begins(name, targets[i]))
            return 1;
    return 0;
}

static const char *refused_of_target(const kiln__codegen_job *job,
                                     LLVMValueRef call, const char *name)
{
    const kiln__foreign_rules *rules = job->backend->foreign;

    if (!begins(name, rules->intrinsics))
        return "another target has it";
    return rules->refuse_own != NULL
               ? rules->refuse_own(job, call, name + strlen(rules->intrinsics))
               : NULL;
}

/* ---- the stack ---- */

/* How many casts and values that meet are looked through. */
#define DEPTH_MAX 8

static int calls_intrinsic(LLVMValueRef value, const char *name)
{
    const LLVMValueRef callee = LLVMIsACallInst(value) != NULL
                                    ? LLVMIsAFunction(LLVMGetCalledValue(value))
                                    : NULL;

    return callee != NULL && LLVMGetIntrinsicID(callee) != 0 &&
           LLVMGetIntrinsicID(callee) ==
               LLVMLookupIntrinsicID(name, strlen(name));
}

static int is_saved(LLVMValueRef value, unsigned depth);

/* True when a pointer's users read it or write results of llvm.stacksave there.
   Code that was not optimised keeps them in memory. */
static int keeps_saved(LLVMValueRef place, unsigned depth)
{
    for (LLVMUseRef use = LLVMGetFirstUse(place);
         use != NULL && depth <= DEPTH_MAX; use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);
        const int is_kept = LLVMIsALoadInst(user) != NULL ||
                            (LLVMIsAStoreInst(user) != NULL &&
                             LLVMGetOperand(user, 1) == place &&
                             is_saved(LLVMGetOperand(user, 0), depth + 1)) ||
                            calls_intrinsic(user, "llvm.lifetime.start") ||
                            calls_intrinsic(user, "llvm.lifetime.end") ||
                            (LLVMIsAAddrSpaceCastInst(user) != NULL &&
                             keeps_saved(user, depth + 1));

        if (!is_kept)
            return 0;
    }
    return depth <= DEPTH_MAX;
}

static int all_are_saved(LLVMValueRef phi, unsigned depth)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (!is_saved(LLVMGetIncomingValue(phi, i), depth + 1))
            return 0;
    return 1;
}

static int is_saved(LLVMValueRef value, unsigned depth)
{
    LLVMValueRef place;

    if (depth > DEPTH_MAX)
        return 0;
    if (LLVMIsAPHINode(value) != NULL)
        return all_are_saved(value, depth);
    if (LLVMIsAAddrSpaceCastInst(value) != NULL)
        return is_saved(LLVMGetOperand(value, 0), depth + 1);
    if (LLVMIsALoadInst(value) == NULL)
        return calls_intrinsic(value, "llvm.stacksave");
    place = LLVMGetOperand(value, 0);
    while (LLVMIsAAddrSpaceCastInst(place) != NULL)
        place = LLVMGetOperand(place, 0);
    return LLVMIsAAllocaInst(place) != NULL && keeps_saved(place, depth + 1);
}

const char *kiln__foreign_refused_intrinsic(const kiln__codegen_job *job,
                                            LLVMValueRef call, const char *name)
{
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
    const char *base = name + sizeof "llvm." - 1;
    size_t size;

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (begins(name, refusals[i].name))
            return refusals[i].why;
    if (begins(name, "llvm.stackrestore") &&
        !is_saved(LLVMGetOperand(call, 0), 0))
        return "its pointer is no result of llvm.stacksave";
    if (is_of_a_target(base))
        return refused_of_target(job, call, base);
    return kiln__foreign_unsupported(
        job, call, LLVMIntrinsicGetName(id, &size) + sizeof "llvm." - 1);
}
