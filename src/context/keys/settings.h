/* settings.h - every setting of a config, once, with its scopes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SETTINGS_H
#define KILN_SETTINGS_H

#include "base/data/array.h"
#include "context/context.h"

#define KILN__SCOPE_TYPED 1u
#define KILN__SCOPE_RUNTIME 2u
#define KILN__SCOPE_BINARY 4u
#define KILN__SCOPE_LOAD 8u

/*
 * X(member, kind, scopes): a member of struct kiln_config, TEXT (char *) or
 * NUMBER (uint64_t). config.c resolves defaults first. A key encodes every
 * member that has the key's scope, in this order, with its name.
 *
 * Numbers are those of kiln/config.h, but never a DEFAULT. Only entry_name may
 * be NULL: then it is derived from the kernel.
 */
#define KILN__SETTING_MAP(X) \
    X(overlays, TEXT, KILN__SCOPE_TYPED) \
    X(backend, TEXT, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(triple, TEXT, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(processor, TEXT, KILN__SCOPE_BINARY) \
    X(features, TEXT, KILN__SCOPE_BINARY) \
    X(options, TEXT, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(math, NUMBER, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(opt_level, NUMBER, KILN__SCOPE_BINARY) \
    X(debug_level, NUMBER, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(bounds_checks, NUMBER, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(fast_math, NUMBER, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(contract, NUMBER, KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY) \
    X(entry_abi, NUMBER, KILN__SCOPE_BINARY) \
    X(entry_name, TEXT, KILN__SCOPE_BINARY) \
    X(sites, NUMBER, KILN__SCOPE_BINARY) \
    X(required_group_x, NUMBER, KILN__SCOPE_BINARY) \
    X(required_group_y, NUMBER, KILN__SCOPE_BINARY) \
    X(required_group_z, NUMBER, KILN__SCOPE_BINARY) \
    X(maximum_group, NUMBER, KILN__SCOPE_BINARY) \
    X(minimum_groups, NUMBER, KILN__SCOPE_BINARY) \
    X(maximum_registers, NUMBER, KILN__SCOPE_BINARY) \
    X(unroll, NUMBER, KILN__SCOPE_BINARY) \
    X(device, NUMBER, KILN__SCOPE_LOAD)

#define KILN__SETTING_TEXT(member) char *member;
#define KILN__SETTING_NUMBER(member) uint64_t member;
#define KILN__SETTING_MEMBER(member, kind, scopes) KILN__SETTING_##kind(member)

/* The overlay table of all backends that are devices; it comes after the
   backend's own. */
#define KILN__DEVICE_OVERLAY "device"

/* Immutable and interned; lives with the context. `overlays` holds the tables
   in order, the backend's own last: "mine,host", "mine,cuda,device". */
struct kiln_config {
    kiln_context *context;
    KILN__SETTING_MAP(KILN__SETTING_MEMBER)
    char *target; /* "host:x86-64+avx2": for people and entries; in no key */
    kiln_digest owner;   /* TYPED */
    kiln_digest runtime; /* TYPED and RUNTIME */
    kiln_digest full;    /* TYPED, RUNTIME and BINARY */
    uint64_t hash;       /* of `full`, for tables in memory */
    kiln_config *next;
};

/* Writes a NUMBER as text for people: "on", "3". In
   context/keys/key_fields.c. */
void kiln__setting_write(kiln__text *out, const char *name, uint64_t value);

#endif /* KILN_SETTINGS_H */
