/* elf.h - checks objects, and links them into an image by lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_ELF_ELF_H
#define KILN_CODEGEN_ELF_ELF_H

#include "codegen/module/codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elf_object.c ---- */
/* What a relocatable object may contain. */
typedef struct kiln__elf_rules {
    uint16_t machine;  /* EM_..., a processor */
    const char *entry; /* the other object defines "entry.more"; or NULL */
    int (*may_import)(const char *name);
} kiln__elf_rules;

/* Checks a relocatable object before a linker sees it. On failure writes the
   reason to `message`. */
kiln_status kiln__elf_object_check(const kiln__object *object,
                                   const kiln__elf_rules *rules, char *message,
                                   size_t capacity);

/* ---- elf_link.c ---- */
#define KILN__ELF_OBJECTS_MAX 2
#define KILN__ELF_OPTIONS_MAX 32 /* with the NULL at the end */
/* What is linked into one image. */
typedef struct kiln__elf_link_input {
    const char *const *options; /* of lld; NULL ends them */
    const kiln__object *objects;
    size_t count;
} kiln__elf_link_input;

/* Links checked objects into an image, in this process. KILN_ENOTFOUND: lld may
   not run in this process any more. */
kiln_status kiln__elf_link(const kiln__elf_link_input *input, kiln_blob *out,
                           char *message, size_t capacity);
/* Gives up lld in this process and releases its lock, because lld cannot go on.
   Does nothing unless this thread is linking. */
void kiln__elf_link_abandon(void);
/* Makes lld usable in children of fork(). */
void kiln__elf_link_guard(void);

/* ---- elf_process.c ---- */
/* As kiln__elf_link(), for a job, and by running ld.lld if need be. A failure
   and the program that linked are recorded in the job. */
kiln_status kiln__elf_link_job(kiln__codegen_job *job,
                               const kiln__elf_link_input *input,
                               kiln_blob *out);
/* As kiln__elf_link(), by running `program`, an ld.lld. */
kiln_status kiln__elf_link_process(const char *program,
                                   const kiln__elf_link_input *input,
                                   kiln_blob *out, char *message,
                                   size_t capacity);

/* ---- llvm_gap_lld.cc ---- */
/* The result of one run of lld in this process. Free both texts with free(). */
typedef struct kiln__lld_result {
    int succeeded;
    int usable; /* lld may run again */
    void *image;
    size_t size;
    char *messages;
} kiln__lld_result;

/* The arguments name the inputs "0.o", "1.o", in the order of `objects`. */
void kiln__lld_link(const char *const *arguments, const kiln__object *objects,
                    kiln__lld_result *out);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_ELF_ELF_H */
