/* kiln/config.h - a target and every setting, validated and interned. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONFIG_H
#define KILN_CONFIG_H

#include "kiln/type.h"

KILN_BEGIN_DECLS

#define KILN_OPT_DEFAULT 0 /* as KILN_OPT_3 */
#define KILN_OPT_0 1
#define KILN_OPT_1 2
#define KILN_OPT_2 3
#define KILN_OPT_3 4

#define KILN_DEBUG_NONE 0
#define KILN_DEBUG_LINES 1
#define KILN_DEBUG_FULL 2

#define KILN_SWITCH_DEFAULT 0
#define KILN_SWITCH_ON 1
#define KILN_SWITCH_OFF 2

#define KILN_ABI_KERNEL 0 /* a kernel that can be launched */
#define KILN_ABI_DEVICE 1 /* a function for foreign code; KILN_EUNSUPPORTED */

/* Which library supplies the mathematical functions that device code calls. */
#define KILN_MATH_DEFAULT 0 /* as KILN_MATH_OPEN */
#define KILN_MATH_OPEN 1   /* libclc; OpenCL's own for spirv; C's on the host */
#define KILN_MATH_VENDOR 2 /* libdevice, ROCm's device libraries */

/* Loops run as they are written: one iteration at a time. */
#define KILN_UNROLL_OFF 1

/* How code refers to host objects (kiln_inference_use_site). */
#define KILN_SITES_RESOLVE 0 /* as constants; the artifact stays here */
#define KILN_SITES_PATCH 1   /* as slots, filled when a kernel is loaded */

/**
 * Settings of a config. Zero is the default everywhere. Each setting belongs to
 * one or more scopes (docs/design/keys.md): `[typed]` settings enter the owner
 * token and so the key of typed IR, `[runtime]` settings the key of runtime
 * functions, `[binary]` settings the full config key, and `[load]` settings no
 * key.
 */
typedef struct kiln_config_options {
    size_t size;            /* KILN_CONFIG_OPTIONS_INIT sets it */
    const char *target;     /* [binary] "host", "host:x86-64-v3",
                               "cuda:sm_90a"; NULL: "host" */
    const char *entry_name; /* [binary] name of the kernel's symbol; NULL:
                               derived. A name that begins with __ is
                               KILN_EINVAL; so is, on targets whose code calls
                               functions by name, the name of such a function
                               ("pow" on the host) */
    const char *overlays;   /* [typed] overlay tables, "a,b"; the first wins.
                               The backend's own table is appended, then
                               "device" unless the backend is the host; NULL: no
                               other tables */
    uint8_t opt_level;      /* [binary] KILN_OPT_... */
    uint8_t debug_level;    /* [runtime, binary] KILN_DEBUG_...; from LINES
                               on, the line numbers themselves enter the
                               binary key */
    uint8_t bounds_checks;  /* [runtime, binary] KILN_SWITCH_..., default on */
    uint8_t fast_math;      /* [runtime, binary] KILN_SWITCH_..., default off */
    uint8_t contract;       /* [runtime, binary] KILN_SWITCH_..., fuse a*b+c;
                               default on */
    uint8_t entry_abi;      /* [binary] KILN_ABI_... */
    uint8_t sites;          /* [binary] KILN_SITES_... */
    uint8_t math;           /* [runtime, binary] KILN_MATH_... */
    uint32_t required_group_size[3]; /* [binary] all 0: any; a single 0 means
                                        1 */
    uint32_t device;                 /* [load] ordinal of the device */
    uint32_t maximum_group_size;     /* [binary] in items; 0: the most that the
                                        target allows */
    uint32_t minimum_groups;         /* [binary] groups that one processor of
                                        the device should hold at once; 0: any.
                                        cuda and rocm only */
    uint32_t maximum_registers;      /* [binary] that the compiler may use for
                                        an item; 0: as many as it wants. cuda
                                        and rocm only */
    uint32_t unroll;                 /* [binary] most iterations of a loop that
                                        is unrolled, KILN_UNROLL_OFF: no loop
                                        is; 0: the compiler decides. Not
                                        spirv */
} kiln_config_options;

#define KILN_CONFIG_OPTIONS_INIT \
    { \
        sizeof(kiln_config_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            {0, 0, 0}, 0, 0, 0, 0, 0 \
    }

/**
 * Stores the config for `options`, whose texts are copied. Equal settings
 * give the same pointer; it lives as long as the context. The host target
 * without a name is resolved to the features of this processor. `options` may
 * be NULL: all defaults. Needs no device and no LLVM.
 *
 * KILN_EINVAL, with an error that names the setting, for a bad setting,
 * including an unknown backend or processor. KILN_EUNSUPPORTED: the backend is
 * known but not in this build.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_config_new(const kiln_config **out, kiln_context *context,
                const kiln_config_options *options, kiln_error **error);

/** Returns the resolved target's text, "host:x86-64+avx2+fma…". Borrowed. */
KILN_API const char *kiln_config_target(const kiln_config *config);
/** Returns the name of the config's backend. Borrowed. */
KILN_API const char *kiln_config_backend(const kiln_config *config);
/** Returns the digest of the [typed] settings by value: the owner token. */
KILN_API kiln_digest kiln_config_owner(const kiln_config *config);
/** Returns the digest of the [typed], [runtime] and [binary] settings.
 *  Configs that differ in [load] settings alone have one digest. */
KILN_API kiln_digest kiln_config_digest(const kiln_config *config);

/**
 * Stores every setting as the config holds it: defaults are resolved, texts
 * borrowed from the config, and `overlays` ends with the backend's own table.
 * `entry_name` stays NULL when it is derived. `out->size` is set by the caller
 * (KILN_CONFIG_OPTIONS_INIT). A frontend learns its settings here; infer() may
 * read those of scope [typed] only.
 */
KILN_API void kiln_config_get_options(kiln_config_options *out,
                                      const kiln_config *config);

/**
 * Renders every setting with its resolved value and its scopes, one a line:
 * "bounds_checks = on [runtime, binary]". The caller releases `*out`; its
 * bytes are NUL-terminated, which is not counted in its size.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_config_describe(kiln_blob *out, const kiln_config *config);

KILN_END_DECLS

#endif /* KILN_CONFIG_H */
