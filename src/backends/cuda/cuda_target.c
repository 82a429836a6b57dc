/* cuda_target.c - targets of CUDA: architectures and versions of PTX. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/cuda/cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/*
 * A target is "sm_90a:ptx80": an architecture and a version of the PTX
 * instruction set. Code for a plain architecture runs on devices of the same
 * major version from its minor version on; as PTX, on all newer ones. Code for
 * an `f` architecture runs in its family only, code for an `a` architecture on
 * that one device only. A final ":ptxas" or ":nvjitlink" chooses the tool that
 * makes cubins.
 */

/* The architectures of LLVM 22, each with the oldest PTX that has it. */
typedef struct architecture {
    const char *name;
    int major, minor;
    char variant; /* 'a', 'f' or 0 */
    int ptx;
} architecture;

static const architecture architectures[] = {
    {"sm_75", 7, 5, 0, 63},      {"sm_80", 8, 0, 0, 70},
    {"sm_86", 8, 6, 0, 71},      {"sm_87", 8, 7, 0, 74},
    {"sm_88", 8, 8, 0, 90},      {"sm_89", 8, 9, 0, 78},
    {"sm_90", 9, 0, 0, 78},      {"sm_90a", 9, 0, 'a', 80},
    {"sm_100", 10, 0, 0, 86},    {"sm_100a", 10, 0, 'a', 86},
    {"sm_100f", 10, 0, 'f', 88}, {"sm_101", 10, 1, 0, 86},
    {"sm_101a", 10, 1, 'a', 86}, {"sm_101f", 10, 1, 'f', 88},
    {"sm_103", 10, 3, 0, 88},    {"sm_103a", 10, 3, 'a', 88},
    {"sm_103f", 10, 3, 'f', 88}, {"sm_110", 11, 0, 0, 90},
    {"sm_110a", 11, 0, 'a', 90}, {"sm_110f", 11, 0, 'f', 90},
    {"sm_120", 12, 0, 0, 87},    {"sm_120a", 12, 0, 'a', 87},
    {"sm_120f", 12, 0, 'f', 88}, {"sm_121", 12, 1, 0, 88},
    {"sm_121a", 12, 1, 'a', 88}, {"sm_121f", 12, 1, 'f', 88},
};

static const int versions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                               78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* The default unless a newer one is needed: the assembler of every CUDA 12 and
   every driver since CUDA 11.8 accept it. Later versions added only
   instructions of the newest architectures, whose own minimum is higher. */
#define USUAL_PTX 78
#define FALLBACK "sm_75" /* the oldest in the table: its PTX runs on all */

/* ---- names ---- */

static const architecture *find_architecture(const char *name, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(architectures); i++)
        if (strlen(architectures[i].name) == size &&
            memcmp(architectures[i].name, name, size) == 0)
            return &architectures[i];
    return NULL;
}

static kiln_status unknown_name(const char *name, kiln_error **error)
{
    char list[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < COUNT_OF(architectures); i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i > 0 ? ", " : "", architectures[i].name);
    return kiln__error_set(error, KILN_EINVAL,
                           "cuda: \"%.64s\" is no target; there are %s, and "
                           "behind one of them \":ptx\" and a version, 78 say, "
                           "and \":ptxas\" or \":nvjitlink\"",
                           name, list);
}

/* Returns the number after "ptx", or 0 if there is no such version. */
static int read_version(const char *text)
{
    char *end = NULL;
    long number;

    if (strncmp(text, "ptx", 3) != 0 || text[3] < '1' || text[3] > '9')
        return 0;
    number = strtol(text + 3, &end, 10);
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        if (*end == '\0' && versions[i] == number)
            return versions[i];
    return 0;
}

static kiln_status resolve_version(int *out, const architecture *of,
                                   const char *text, kiln_error **error)
{
    *out = of->ptx > USUAL_PTX ? of->ptx : USUAL_PTX;
    if (text == NULL)
        return KILN_OK;
    *out = read_version(text);
    if (*out == 0)
        return kiln__error_set(error, KILN_EINVAL,
                               "cuda: \"%.64s\" is no version of PTX: it is "
                               "written ptx78, and the newest is ptx%d",
                               text, versions[COUNT_OF(versions) - 1]);
    if (*out < of->ptx)
        return kiln__error_set(error, KILN_EINVAL,
                               "cuda: %s needs ptx%d or newer, not ptx%d",
                               of->name, of->ptx, *out);
    return KILN_OK;
}

typedef struct words {
    const architecture *of;
    int ptx;
    const char *tool; /* "ptxas"; NULL: whichever is installed */
} words;

static const char *tool_named(const char *text)
{
    static const char *const names[] = {"nvjitlink", "ptxas"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(text, names[i]) == 0)
            return names[i];
    return NULL;
}

/* Splits "sm_90a:ptx87:ptxas"; a tool comes last. */
static kiln_status resolve(words *out, const char *name, kiln_error **error)
{
    const char *colon = strchr(name, ':');
    const char *last = strrchr(name, ':');
    char version[16] = "";

    out->of = find_architecture(name, colon != NULL ? (size_t)(colon - name)
                                                    : strlen(name));
    if (out->of == NULL)
        return unknown_name(name, error);
    out->tool = last != NULL ? tool_named(last + 1) : NULL;
    if (out->tool == NULL)
        return resolve_version(&out->ptx, out->of,
                               colon != NULL ? colon + 1 : NULL, error);
    (void)snprintf(version, sizeof version, "%.*s",
                   last > colon ? (int)(last - colon - 1) : 0, colon + 1);
    return resolve_version(&out->ptx, out->of, last > colon ? version : NULL,
                           error);
}

/* The device's own architecture or, if it is newer than the table, the newest
   one whose PTX it accepts. */
static kiln_status default_name(char *name, size_t size,
                                kiln__gpu_backend *backend, kiln_error **error)
{
    const architecture *best = NULL;
    int there;

    KILN_TRY(kiln__gpu_first_architecture(name, size, backend, error));
    if (find_architecture(name, strlen(name)) != NULL)
        return KILN_OK;
    there = name[0] != '\0' ? atoi(name + strlen("sm_")) : 0;
    for (size_t i = 0; i < COUNT_OF(architectures); i++)
        if (architectures[i].variant == 0 &&
            architectures[i].major * 10 + architectures[i].minor <= there)
            best = &architectures[i];
    (void)snprintf(name, size, "%s", best != NULL ? best->name : FALLBACK);
    return KILN_OK;
}

kiln_status kiln__cuda_target(kiln__gpu_backend *backend, const char *name,
                              kiln_target *out, kiln_error **error)
{
    char chosen[64];
    words w;

    if (name == NULL) {
        KILN_TRY(default_name(chosen, sizeof chosen, backend, error));
        name = chosen;
    }
    KILN_TRY(resolve(&w, name, error));
    (void)snprintf(out->name, sizeof out->name, "%s:ptx%d%s%s", w.of->name,
                   w.ptx, w.tool != NULL ? ":" : "",
                   w.tool != NULL ? w.tool : "");
    (void)snprintf(out->triple, sizeof out->triple, "nvptx64-nvidia-cuda");
    (void)snprintf(out->processor, sizeof out->processor, "%s", w.of->name);
    (void)snprintf(out->features, sizeof out->features, "+ptx%d", w.ptx);
    (void)snprintf(out->options, sizeof out->options, "%s%s",
                   w.tool != NULL ? "tool=" : "", w.tool != NULL ? w.tool : "");
    return KILN_OK;
}

/* ---- devices ---- */

/* sm_101 is a family of its own within its major version. */
static int same_family(const architecture *of, int major, int minor)
{
    const int is_apart = of->major == 10 && (of->minor == 1) != (minor == 1);

    return of->major == major && of->minor <= minor && !is_apart;
}

static int runs_on(const architecture *of, int is_text, int major, int minor)
{
    if (of->variant == 'a')
        return of->major == major && of->minor == minor;
    if (of->variant == 'f')
        return same_family(of, major, minor);
    if (is_text)
        return of->major < major || (of->major == major && of->minor <= minor);
    return of->major == major && of->minor <= minor;
}

kiln_status kiln__cuda_target_fits(const kiln__gpu_context *context,
                                   const char *target, const char *format,
                                   kiln_error **error)
{
    const int is_text = strcmp(format, "ptx") == 0;
    words w;

    if (!is_text && strcmp(format, "cubin") != 0)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "cuda: an artifact of format \"%.32s\"", format);
    if (strncmp(target, "cuda:", 5) != 0)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "cuda: an artifact for \"%.64s\"", target);
    KILN_TRY(resolve(&w, target + 5, error));
    if (runs_on(w.of, is_text, context->major, context->minor))
        return KILN_OK;
    return kiln__error_set(error, KILN_ENODEVICE,
                           "cuda: %s for %s does not run on device %s, which "
                           "is %s",
                           format, w.of->name, context->name,
                           context->architecture);
}
