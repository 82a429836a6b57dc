/* elf.h - objects checked, and linked to an image by lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_ELF_ELF_H
#define KILN_CODEGEN_ELF_ELF_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elf_object.c ---- */
/* What a relocatable object may be. */
typedef struct kiln__elf_rules {
    uint16_t machine;  /* EM_... */
    const char *entry; /* another object defines "entry.more"; or NULL */
    int (*may_import)(const char *name);
} kiln__elf_rules;

/* Checks a relocatable object before a linker sees it; on failure writes the
   reason to `message`. */
kiln_status kiln__elf_object_check(const kiln__object *object,
                                   const kiln__elf_rules *rules, char *message,
                                   size_t capacity);

/* ---- elf_link.c ---- */
#define KILN__ELF_OBJECTS_MAX 2
#define KILN__ELF_OPTIONS_MAX 32 /* the NULL at the end, too */
/* Links checked objects into an image, in this process; KILN_ENOTFOUND: lld
   may not run in it any more. */
kiln_status kiln__elf_link(const char *const *options,
                           const kiln__object *objects, size_t count,
                           kiln_blob *out, char *message, size_t capacity);
/* lld cannot go on: gives up lld in this process and unlocks. A no-op unless
   this thread is linking. */
void kiln__elf_link_abandon(void);
/* Makes lld usable in children of fork(). */
void kiln__elf_link_guard(void);

/* ---- elf_process.c ---- */
/* As kiln__elf_link(), for a job: in a process of its own if need be. The job
   has the failure, and the program that linked it. */
kiln_status kiln__elf_link_job(kiln__codegen_job *job,
                               const char *const *options,
                               const kiln__object *objects, size_t count,
                               kiln_blob *out);
/* As kiln__elf_link(), by running `program`, an ld.lld. */
kiln_status kiln__elf_link_process(const char *program,
                                   const char *const *options,
                                   const kiln__object *objects, size_t count,
                                   kiln_blob *out, char *message,
                                   size_t capacity);

/* ---- llvm_gap_lld.cc ---- */
/* What one run of lld inside the process gave. Free both with free(). */
typedef struct kiln__lld_result {
    int succeeded;
    int usable; /* lld may run again */
    void *image;
    size_t size;
    char *messages;
} kiln__lld_result;

/* Inputs among the arguments are called "0.o", "1.o", as the objects. */
void kiln__lld_link(const char *const *arguments, const kiln__object *objects,
                    kiln__lld_result *out);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_ELF_ELF_H */
