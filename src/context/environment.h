/* environment.h - the environment variables, read once per context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ENVIRONMENT_H
#define KILN_ENVIRONMENT_H

#include "kiln/error.h"

#define KILN__THREADS_MAX 1024u /* of one pool */

/* Values of the variables about the cache; NULL: not set. */
typedef struct kiln__cache_variables {
    const char *mode;
    const char *directory;
    const char *search_path;
    const char *local_directory;
    const char *max_size;
    const char *max_entries;
    const char *max_age;
    const char *mem_size;
    const char *lock;
    const char *disk;
    const char *wait;
    const char *salt;
    const char *name_space;
    const char *trace;
    const char *tiers;
    const char *trust;
    const char *home;              /* HOME */
    const char *cache_home;        /* XDG_CACHE_HOME */
    const char *runtime_directory; /* XDG_RUNTIME_DIR */
    const char *temporary;         /* TMPDIR */
    int is_privileged; /* whether the process has more rights than its user */
} kiln__cache_variables;

typedef struct kiln__environment {
    uint32_t workers;         /* 0: not set */
    uint32_t threads;         /* 0: not set */
    const char *codegen_path; /* borrowed from the environment, or NULL */
    const char *import_path;  /* borrowed from the environment, or NULL */
    const char *codegen;      /* the variable's text, or NULL; the same holds
                                 for the next four */
    const char *codegen_worker;
    const char *codegen_timeout;
    const char *codegen_memory;
    const char *spirv_driver;
    kiln__cache_variables cache; /* borrowed from the environment */
} kiln__environment;

/* KILN_EINVAL, with an error that names the variable whose value cannot be
   used. */
kiln_status kiln__environment_read(kiln__environment *out, kiln_error **error);

/* Returns the value of a backend's own variable; NULL: not set. Borrowed from
   the environment. */
const char *kiln__environment_text(const char *name);

/* Returns the next variable that begins with `prefix` and that nothing reads,
   as "NAME=value"; NULL after the last one. `*at` begins as 0. */
const char *kiln__environment_unknown(const char *prefix, size_t *at);

#endif /* KILN_ENVIRONMENT_H */
