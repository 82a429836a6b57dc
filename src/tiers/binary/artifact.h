/* artifact.h - the inside of artifacts, kernels and code instances' heads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ARTIFACT_H
#define KILN_ARTIFACT_H

#include <stdatomic.h>

#include "context/context.h"
#include "kiln/kernel.h"

/* Immutable once made, counted. Lives in malloc: it may outlive the context. */
struct kiln_artifact {
    atomic_uint references;
    kiln_digest key;   /* the binary key */
    void *encoded_key; /* full encoding, compared on every hit */
    size_t encoded_key_size;
    char *format;
    char *target;
    int32_t relocation;
    void *bytes;
    size_t size;
    kiln_kernel_info *kernels; /* everything inside is the artifact's */
    size_t kernel_count;
    kiln_site_info *sites;
    size_t site_count;
    const void *reports; /* device_abi.h */
    size_t report_size;
    struct kiln__roots *roots; /* of resolved sites, or NULL; host_objects.h */
    uint64_t compile_ns;
    char *toolchain;             /* that made it: provenance.h */
    const kiln_artifact *origin; /* of a copy for one load, or NULL */
};

/* What artifact_new copies. */
typedef struct kiln__artifact_source {
    kiln_digest key;
    const void *encoded_key;
    size_t encoded_key_size;
    const char *format;
    const char *target;
    int32_t relocation;
    const void *bytes;
    size_t size;
    const kiln_kernel_info *kernels;
    size_t kernel_count;
    const kiln_site_info *sites;
    size_t site_count;
    const void *reports;
    size_t report_size;
    struct kiln__roots *roots; /* taken over on success; or NULL */
    uint64_t compile_ns;
    const char *toolchain; /* NULL: none */
} kiln__artifact_source;

/* ---- artifact.c ---- */
kiln_status kiln__artifact_new(const kiln_artifact **out,
                               const kiln__artifact_source *source);

/* Adds a reference to the artifact, or to the one that it is a copy of for one
   load, and returns that. */
const kiln_artifact *kiln__artifact_retain_origin(
    const kiln_artifact *artifact);

/* An entry's name, where the config says none, ends in an underscore and so
   many digits of the typed digest. */
#define KILN__ENTRY_DIGITS 8

/* Can what an artifact of a store says of its kernel be true of the job?
   KILN_ECORRUPT. Arguments are looked at when it is loaded. */
kiln_status kiln__artifact_check(const kiln_artifact *artifact,
                                 const kiln_code *code,
                                 const kiln_config *config, kiln_error **error);

/* Is it the artifact's own fault that loading it ended so? */
int kiln__artifact_is_unusable(const kiln_artifact *artifact,
                               kiln_status status);

/* The artifact's kernel of that name, or NULL. */
const kiln_kernel_info *kiln__artifact_kernel_named(
    const kiln_artifact *artifact, const char *name);

/* One entry of an artifact, loaded on one device. The head is public layout:
   kiln_call_site_get() reads it. Owned by tier 3; unloaded when collected. */
struct kiln_kernel {
    kiln_kernel_head head; /* read with __atomic builtins */
    kiln_context *context;
    const kiln_artifact *artifact; /* one reference */
    const kiln_kernel_info *info;  /* the artifact's, or */
    kiln_kernel_info own_info;     /* the same with the method's own name */
    const kiln_config *config;
    const kiln_code *code;
    const kiln_type *const *types;      /* of the arguments; the code's */
    struct kiln__loaded_module *module; /* backends/kernel_load.c */
    void *function;                     /* from the backend's symbol() */
    struct kiln__job *job;              /* in tier 3 */
    kiln_kernel *next;                  /* of its job */
    kiln_kernel *next_of_code;          /* of its code instance */
};

#endif /* KILN_ARTIFACT_H */
