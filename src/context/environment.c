/* environment.c - reads the environment variables, once per context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/environment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"
#include "kiln/context.h"

/*
 * Other code of the library reads only two things from the environment:
 * tool_paths.c the places of tools, and tool_run.c the folder for their output,
 * on both sides of the border. In a process with more rights than its user no
 * variable is used (secure_getenv). An empty value counts as not set.
 */

static const kiln_environment_variable variables[] = {
    {"KILN_WORKERS", "number of threads that compile; default: cores"},
    {"KILN_THREADS", "number of threads of the host backend; default: cores"},
    {"KILN_CODEGEN_PATH",
     "path of libkiln-codegen.so; default: beside libkiln, else the "
     "loader's path"},
    {"KILN_PATH",
     "folders, separated by ':', where imported packages are looked for"},
    {"KILN_CUDA_DRIVER",
     "path of the CUDA driver's library, for tests and unusual "
     "installations; default: libcuda.so.1"},
    {"KILN_ROCM_DRIVER",
     "path of the HIP runtime's library, likewise; default: "
     "libamdhip64.so, else its .7, .6 or .5"},
    {"KILN_CODEGEN",
     "where code is generated: thread, on threads of Kiln's; worker, in "
     "processes of their own; or auto, of other frontends' LLVM IR in such "
     "a process if its program is there; default: auto"},
    {"KILN_CODEGEN_WORKER",
     "path of the program kiln-codegen-worker; default: "
     "../libexec/kiln/kiln-codegen-worker from libkiln's folder"},
    {"KILN_CODEGEN_TIMEOUT",
     "time that a job may take in such a process, or none; default: 120s"},
    {"KILN_CODEGEN_MEMORY",
     "bytes of address space of such a process, 4G say, or none; default: "
     "none"},
    {"KILN_SPIRV_DRIVER",
     "level-zero or opencl: the only driver of backend spirv; default: "
     "both"},
    {"KILN_LLVM_SPIRV",
     "program that translates for OpenCL devices without SPIR-V; default: "
     "llvm-spirv-15, else llvm-spirv"},
    {"KILN_SPIRV_TOOLS",
     "path of SPIRV-Tools' shared library, which checks modules, or off; "
     "default: the one that Kiln was built with, else the loader's"},
    {"KILN_NVJITLINK",
     "path of the library that makes cubins of PTX, or off; default: the CUDA "
     "toolkit's, else the loader's"},
    {"KILN_PTXAS",
     "path of the program that does so where nvJitLink does not, or off; "
     "default: the CUDA toolkit's, else PATH's"},
    {"KILN_LLD", "path of ld.lld, for links in a process of their own"},
    {"KILN_LIBCLC", "folder of libclc's bitcode"},
    {"KILN_LIBDEVICE", "folder of libdevice's bitcode"},
    {"KILN_ROCM_DEVICE_LIBS",
     "folder of ocml.bc, ROCm's mathematics; default: below ROCM_PATH or "
     "HIP_PATH, else the usual folders"},
    {"KILN_TRACE",
     "file that gets a timeline of stages, stores and waits, in Chrome's "
     "trace event format"},
    {"KILN_CACHE", "off, ro, rw, must-hit, refresh or verify; default: rw"},
    {"KILN_CACHE_DIR",
     "folder of the entries; default: kiln in XDG_CACHE_HOME, else in "
     "~/.cache"},
    {"KILN_CACHE_PATH",
     "folders and packs, separated by ':', that are only read"},
    {"KILN_CACHE_LOCAL_DIR",
     "folder that is written instead of a default folder on a network "
     "file system"},
    {"KILN_CACHE_MAX_SIZE", "bytes on disk, 2G say, or none"},
    {"KILN_CACHE_MAX_ENTRIES", "entries on disk, or none; default: 65536"},
    {"KILN_CACHE_MAX_AGE",
     "time without use, 30d say, after which an entry goes, or none"},
    {"KILN_CACHE_MEM_SIZE", "bytes kept in memory unused; default: 256M"},
    {"KILN_CACHE_LOCK",
     "auto: where the file system can lock, one process builds what "
     "several ask for; or none"},
    {"KILN_CACHE_DISK",
     "on, or off: no folder of entries is read or written; default: on"},
    {"KILN_CACHE_WAIT",
     "time at most that one process waits for another; default: 30s"},
    {"KILN_CACHE_SALT", "text that enters every key"},
    {"KILN_CACHE_NAMESPACE", "folder in the folder, for entries apart"},
    {"KILN_CACHE_TRACE", "as KILN_TRACE, which comes first"},
    {"KILN_CACHE_TIERS",
     "tiers that are on, separated by ',': typed_ir, runtime, binary; "
     "or none"},
    {"KILN_CACHE_TRUST",
     "numbers of users, separated by ',', whose folders and packs on "
     "KILN_CACHE_PATH are used, beside root's and one's own"},
    {NULL, NULL},
};

const kiln_environment_variable *kiln_environment_variables(void)
{
    return variables;
}

static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);

    return value != NULL && *value ? value : NULL;
}

static const char *first_variable(const char *name, const char *other)
{
    const char *value = variable(name);

    return value != NULL ? value : variable(other);
}

static kiln_status read_count(uint32_t *out, const char *name,
                              kiln_error **error)
{
    const char *text = variable(name);
    char *end = NULL;
    unsigned long count;

    *out = 0;
    if (text == NULL)
        return KILN_OK;
    count = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || count < 1 ||
        count > KILN__THREADS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s is '%s'; it takes a number from 1 to %u",
                               name, text, KILN__THREADS_MAX);
    *out = (uint32_t)count;
    return KILN_OK;
}

static int is_known(const char *name, size_t size)
{
    const kiln_environment_variable *known = kiln_environment_variables();

    for (; known->name != NULL; known++)
        if (strlen(known->name) == size && memcmp(known->name, name, size) == 0)
            return 1;
    return 0;
}

const char *kiln__environment_unknown(const char *prefix, size_t *at)
{
    for (; environ != NULL && environ[*at] != NULL; (*at)++) {
        const char *entry = environ[*at];

        if (strncmp(entry, prefix, strlen(prefix)) == 0 &&
            !is_known(entry, strcspn(entry, "="))) {
            (*at)++;
            return entry;
        }
    }
    return NULL;
}

static void read_cache(kiln__cache_variables *out)
{
    *out = (kiln__cache_variables){
        .mode = variable("KILN_CACHE"),
        .directory = variable("KILN_CACHE_DIR"),
        .search_path = variable("KILN_CACHE_PATH"),
        .local_directory = variable("KILN_CACHE_LOCAL_DIR"),
        .max_size = variable("KILN_CACHE_MAX_SIZE"),
        .max_entries = variable("KILN_CACHE_MAX_ENTRIES"),
        .max_age = variable("KILN_CACHE_MAX_AGE"),
        .mem_size = variable("KILN_CACHE_MEM_SIZE"),
        .lock = variable("KILN_CACHE_LOCK"),
        .disk = variable("KILN_CACHE_DISK"),
        .wait = variable("KILN_CACHE_WAIT"),
        .salt = variable("KILN_CACHE_SALT"),
        .name_space = variable("KILN_CACHE_NAMESPACE"),
        .trace = first_variable("KILN_TRACE", "KILN_CACHE_TRACE"),
        .tiers = variable("KILN_CACHE_TIERS"),
        .trust = variable("KILN_CACHE_TRUST"),
        .home = variable("HOME"),
        .cache_home = variable("XDG_CACHE_HOME"),
        .runtime_directory = variable("XDG_RUNTIME_DIR"),
        .temporary = variable("TMPDIR"),
        .is_privileged = getauxval(AT_SECURE) != 0,
    };
}

const char *kiln__environment_text(const char *name)
{
    return variable(name);
}

kiln_status kiln__environment_read(kiln__environment *out, kiln_error **error)
{
    KILN_TRY(read_count(&out->workers, "KILN_WORKERS", error));
    KILN_TRY(read_count(&out->threads, "KILN_THREADS", error));
    out->codegen_path = variable("KILN_CODEGEN_PATH");
    out->spirv_driver = variable("KILN_SPIRV_DRIVER");
    out->codegen = variable("KILN_CODEGEN");
    out->codegen_worker = variable("KILN_CODEGEN_WORKER");
    out->codegen_timeout = variable("KILN_CODEGEN_TIMEOUT");
    out->codegen_memory = variable("KILN_CODEGEN_MEMORY");
    out->import_path = variable("KILN_PATH");
    read_cache(&out->cache);
    return KILN_OK;
}
