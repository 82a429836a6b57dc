/* spirv.h - the internal interface of the SPIR-V backend's driver half. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SPIRV_BACKEND_H
#define KILN_SPIRV_BACKEND_H

#include <stdatomic.h>

#include "backends/device/device_driver.h"
#include "backends/facts.h"
#include "base/build_id.h"
#include "context/targets/spirv_limits.h"

/*
 * One backend uses two drivers: Level Zero and OpenCL. Each driver has a table
 * of a backend's functions and its own list of devices; spirv_driver.c numbers
 * all devices and passes calls on.
 */

/* ---- spirv_target.c: targets ---- */

/*
 * X(id, name): features of targets, in the canonical order. The name of an
 * extension is that of the SPIR-V registry.
 */
#define KILN__SPIRV_FEATURE_MAP(X) \
    X(FP16, "fp16") \
    X(FP64, "fp64") \
    X(INT64_ATOMICS, "int64_atomics") \
    X(SUBGROUPS, "subgroups") \
    X(LARGE_ARGUMENTS, KILN__SPIRV_LARGE) \
    X(ATOMIC_FLOAT16_ADD, "SPV_EXT_shader_atomic_float16_add") \
    X(ATOMIC_FLOAT_ADD, "SPV_EXT_shader_atomic_float_add") \
    X(ATOMIC_FLOAT_MIN_MAX, "SPV_EXT_shader_atomic_float_min_max") \
    X(FUNCTION_POINTERS, "SPV_INTEL_function_pointers") \
    X(OPTNONE, "SPV_INTEL_optnone") \
    X(INTEL_SUBGROUPS, "SPV_INTEL_subgroups") \
    X(BIT_INSTRUCTIONS, "SPV_KHR_bit_instructions") \
    X(EXPECT_ASSUME, "SPV_KHR_expect_assume") \
    X(FLOAT_CONTROLS, "SPV_KHR_float_controls") \
    X(INTEGER_DOT_PRODUCT, "SPV_KHR_integer_dot_product") \
    X(LINKONCE_ODR, "SPV_KHR_linkonce_odr") \
    X(NO_INTEGER_WRAP, "SPV_KHR_no_integer_wrap_decoration") \
    X(SHADER_CLOCK, "SPV_KHR_shader_clock") \
    X(SUBGROUP_ROTATE, "SPV_KHR_subgroup_rotate") \
    X(UNIFORM_GROUP, "SPV_KHR_uniform_group_instructions")

enum {
#define KILN__SPIRV_FEATURE_ENUM(id, name) KILN__SPIRV_##id,
    KILN__SPIRV_FEATURE_MAP(KILN__SPIRV_FEATURE_ENUM) KILN__SPIRV_FEATURE_COUNT
#undef KILN__SPIRV_FEATURE_ENUM
};

#define KILN__SPIRV_BIT(id) ((uint64_t)1 << KILN__SPIRV_##id)
/* Features that drivers can be asked about; whether they accept an extension
   shows when they build a module. */
#define KILN__SPIRV_ASKED \
    (KILN__SPIRV_BIT(FP16) | KILN__SPIRV_BIT(FP64) | \
     KILN__SPIRV_BIT(INT64_ATOMICS) | KILN__SPIRV_BIT(SUBGROUPS) | \
     KILN__SPIRV_BIT(LARGE_ARGUMENTS))

/* The version is 1.`minor`. */
typedef struct kiln__spirv_level {
    uint32_t minor;
    uint64_t features; /* bits */
} kiln__spirv_level;

#define KILN__SPIRV_MINOR_LEAST 2u
#define KILN__SPIRV_MINOR_USUAL 4u
#define KILN__SPIRV_MINOR_MOST 6u

/* Resolves "1.4+fp64+SPV_KHR_expect_assume". NULL, or a name that begins with a
   sign: the usual version with the features of `there`, or fp64 and
   int64_atomics if that is not given. */
kiln_status kiln__spirv_target(kiln_target *out, const char *name,
                               const kiln__spirv_level *there,
                               kiln_error **error);
/* Checks that code for `target`, "spirv:…", can run on a device with the level
   `there`. */
kiln_status kiln__spirv_target_runs(const char *target,
                                    const kiln__spirv_level *there,
                                    kiln_error **error);

/* ---- spirv_reflect.c: reads modules of any origin ---- */

#define KILN__SPIRV_MAGIC 0x07230203u
#define KILN__SPIRV_HEAD_WORDS 5u

/* One instruction: `words[0]` holds its length and opcode. */
typedef struct kiln__spirv_instruction {
    const uint32_t *words;
    uint32_t count;
    uint32_t opcode;
} kiln__spirv_instruction;

/* A walk over the instructions of a module, whose words are borrowed. */
typedef struct kiln__spirv_walk {
    const uint32_t *words;
    size_t count;
    size_t at;
    int failed; /* an instruction has no length or exceeds the module */
} kiln__spirv_walk;

/* KILN_ECORRUPT unless it is a module of SPIR-V 1.x, in this machine's byte
   order and aligned to 4. */
kiln_status kiln__spirv_walk_init(kiln__spirv_walk *walk, const void *bytes,
                                  size_t size, kiln_error **error);
/* Gives the next instruction; false at the end, and when `failed`. */
int kiln__spirv_walk_next(kiln__spirv_walk *walk, kiln__spirv_instruction *out);
/* KILN_ECORRUPT for a module that ends within an instruction or a function:
   some drivers do not say that this is wrong with it. */
kiln_status kiln__spirv_walk_check(kiln__spirv_walk walk, kiln_error **error);
/* Returns the minor version of the module, 1.`minor`. */
uint32_t kiln__spirv_walk_minor(const kiln__spirv_walk *walk);

/* A parameter of a kernel, and where its value is in the packed block. */
typedef struct kiln__spirv_parameter {
    uint32_t offset;
    uint32_t size;
    int is_pointer; /* whether it points to memory of the device */
    int is_local;   /* it is memory of the group: the value is its size */
} kiln__spirv_parameter;

/* Fills `out`, which has room for KILN__SPIRV_LARGE_PARAMETERS, with the
   parameters of one of the kernel's entries, hidden ones last. In the second
   entry, which `is_known`, an array's size may be its low half. KILN_ECORRUPT
   when module and metadata disagree. */
kiln_status kiln__spirv_parameters(kiln__spirv_parameter *out, size_t *count,
                                   const kiln_artifact *artifact,
                                   const kiln_kernel_info *info, int is_known,
                                   kiln_error **error);

/* ---- spirv_legalise.c ---- */

/* Makes a copy of a module with the same meaning, without what the older
   translator does not accept: OpConstantNull of scalar types, and memory
   barriers. The caller releases it. KILN_ECORRUPT, KILN_ENOMEM. */
kiln_status kiln__spirv_legalise(kiln_blob *out, const kiln_alloc *alloc,
                                 const void *bytes, size_t size,
                                 kiln_error **error);

/* ---- spirv_translate.c ---- */

#define KILN__SPIRV_TOOLS_SIZE (16 + KILN__BUILD_ID_TEXT_SIZE)

/* Turns a module into LLVM bitcode for drivers without SPIR-V, by running the
   translator. The caller releases it. `tools` receives the translator's word if
   the result may be stored. KILN_EUNSUPPORTED: there is no translator. */
kiln_status kiln__spirv_translate(kiln_blob *out,
                                  char tools[KILN__SPIRV_TOOLS_SIZE],
                                  kiln_context *context, const void *bytes,
                                  size_t size, kiln_error **error);
/* The newest minor version that the translator reads. */
#define KILN__SPIRV_TRANSLATED_MINOR 4u

/* ---- spirv_driver.c ---- */

/* Identifies a device that several drivers list. */
typedef struct kiln__spirv_place {
    int has_uuid, has_pci;
    unsigned char uuid[16];
    uint32_t pci[4]; /* domain, bus, device, function */
} kiln__spirv_place;

/* A driver's facts about a device begin with this. */
typedef struct kiln__spirv_facts {
    kiln__spirv_level level;
    uint64_t argument_bytes; /* that a kernel may have; 0: unknown */
    uint64_t local_bytes;    /* that a group has; 0: unknown */
    kiln__spirv_place place;
} kiln__spirv_facts;

typedef struct kiln__spirv_list {
    void *facts; /* array of the driver's structs */
    uint32_t count;
    uint32_t capacity;
    char reason[320]; /* why there are no devices */
} kiln__spirv_list;

typedef struct kiln__spirv_finder kiln__spirv_finder;
typedef struct kiln__spirv_device kiln__spirv_device;
typedef struct kiln__spirv_module kiln__spirv_module;
typedef struct kiln__spirv_entry kiln__spirv_entry;
typedef struct kiln__spirv_function kiln__spirv_function;

/*
 * A driver of the backend. `ops.describe` is not used; `native` in `ops.open`
 * is a kiln_spirv_native. The members after `ops` serve the code that both
 * drivers share; there `native` is the driver's own handle.
 */
typedef struct kiln__spirv_driver {
    const char *name; /* "opencl", "level-zero" */
    const char *title;
    const kiln_backend_ops *ops;
    size_t facts_size;
    size_t finder_size;
    size_t device_size;
    /* Opens the driver; on failure it sets the list's reason. KILN_ENOTFOUND:
       it does not exist; KILN_EIO: it may be opened later. */
    kiln_status (*open)(kiln__spirv_finder *finder);
    /* Lists the devices, or gives the reason why there are none.
       KILN_ENOMEM. */
    kiln_status (*probe)(kiln__spirv_finder *finder);
    /* Fill in a device, which is otherwise zero, and its name. After a failure
       device_free() frees what they had made. */
    kiln_status (*device_open)(kiln__spirv_device *device, void *self,
                               uint32_t ordinal, kiln_error **error);
    kiln_status (*device_adopt)(kiln__spirv_device *device, void *self,
                                const kiln_spirv_native *native,
                                kiln_error **error);
    void (*device_free)(kiln__spirv_device *device);
    void (*program_free)(const kiln__spirv_device *device, void *native);
    kiln_status (*kernel_new)(void **native, const kiln__spirv_module *module,
                              const char *name, kiln_error **error);
    void (*kernel_free)(const kiln__spirv_device *device, void *native);
    /* Fills the limits of a kernel. */
    void (*ask_limits)(kiln__group_limits *out,
                       const kiln__spirv_device *device, void *native);
} kiln__spirv_driver;

/* Handles of devices, modules and queues begin with this, which leads to the
   driver. */
typedef struct kiln__spirv_owner {
    const kiln__spirv_driver *driver;
    void *self;
} kiln__spirv_owner;

extern const kiln_backend_ops kiln__spirv_ops;
/* Makes the backend and its table. */
kiln_status kiln__spirv_backend_new(kiln_backend_ops *ops, void **self,
                                    kiln_context *context, kiln_error **error);

struct kiln__opencl_api;
struct kiln__level_zero_api;
/* For tests, which give tables of their own, borrowed; NULL: opened at the
   first use. */
kiln_status kiln__spirv_backend_new_on(void **self, kiln_context *context,
                                       const struct kiln__opencl_api *opencl,
                                       const struct kiln__level_zero_api *zero,
                                       kiln_error **error);

/* ---- spirv_device.c: devices of both drivers ---- */

typedef struct kiln__spirv_import {
    const char *name;
    size_t member; /* offset in the table of functions */
    int needed;
} kiln__spirv_import;

/* Opens a loader's library and fills the table; false, with a reason. The
   library is never closed, because drivers keep threads. */
kiln_status kiln__spirv_library_open(void *table, const char *library,
                                     const kiln__spirv_import *imports,
                                     size_t count, char *reason,
                                     size_t capacity);

/* A driver's `self` begins with this. Devices are searched once, when something
   first asks about them, because an opened driver starts threads. */
struct kiln__spirv_finder {
    const kiln__spirv_driver *driver;
    kiln_context *context;
    kiln__mutex lock; /* held while the driver is asked; fork() waits for it */
    kiln__fork_guard guard;
    int is_known;
    kiln__spirv_list list;
};

/* Returns room for facts at the end of a list. The caller fills them and
   increments the count. NULL: out of memory. */
void *kiln__spirv_list_room(kiln__spirv_list *list, size_t facts_size,
                            const kiln_alloc *alloc);
void kiln__spirv_list_dispose(kiln__spirv_list *list, size_t facts_size,
                              const kiln_alloc *alloc);
/* Returns the facts of a device that was found. */
const kiln__spirv_facts *kiln__spirv_facts_of(const kiln__spirv_finder *finder,
                                              uint32_t ordinal);

/* Makes a driver's `self`, of the driver's own size, otherwise zero. */
kiln_status kiln__spirv_finder_new(kiln__spirv_finder **out,
                                   const kiln__spirv_driver *driver,
                                   kiln_context *context, kiln_error **error);
void kiln__spirv_finder_free(void *self);

/* A driver's device begins with this. */
struct kiln__spirv_device {
    kiln__spirv_owner owner;
    kiln_context *context;
    kiln__spirv_level level;
    uint64_t argument_bytes;
    uint64_t local_bytes;
    const char *name;
    kiln__loaded_kernels kernels;
    kiln__spirv_module *replicas; /* spirv_replica.c */
    uint32_t replicas_leaving;    /* replicas that are being unloaded */
};

/* Functions of a backend's table. */
uint32_t kiln__spirv_count(void *self, const char **reason);
/* False if the count may change: then devices will be searched again. */
int kiln__spirv_is_settled(const void *self);
kiln_status kiln__spirv_open(void *self, uint32_t ordinal, void *native,
                             void **device, const char **device_name,
                             kiln_error **error);
void kiln__spirv_close(void *self, void *device);

/* ---- spirv_kernel.c: modules and kernels of both drivers ---- */

/* A kernel object of the driver. It holds the arguments of a launch, so one
   caller uses it at a time. */
typedef struct kiln__spirv_kernel {
    kiln__spirv_entry *entry;
    void *native;
    void *reach[2]; /* state and heap that the driver was told about */
    struct kiln__spirv_kernel *next;
} kiln__spirv_kernel;

/* An entry of a kernel in its module; `parameters` NULL: there is none. */
struct kiln__spirv_entry {
    kiln__spirv_parameter *parameters;
    size_t parameter_count;
    kiln__group_limits limits;
    kiln__spirv_kernel *idle;
};

struct kiln__spirv_function {
    kiln__spirv_module *module;
    const kiln_kernel_info *info; /* belongs to the artifact */
    uint64_t number;              /* among the device's kernels */
    kiln__spirv_entry any;        /* for any launch */
    kiln__spirv_entry known;      /* for those of which facts hold */
    kiln__mutex lock;             /* protects the kernels */
    kiln__fork_guard guard;
    kiln__spirv_kernel *own; /* of a caller that launches by itself, or NULL */
    kiln__spirv_function *next;
};

struct kiln__spirv_module {
    kiln__spirv_owner owner;
    kiln__spirv_device *device;
    const kiln_artifact *artifact; /* retained */
    kiln__launch_facts *facts;     /* of its second entry; or NULL */
    void *native;                  /* the driver's program or module */
    kiln__mutex lock;              /* protects the list */
    kiln__fork_guard guard;
    kiln__spirv_function *functions;
    char tools[KILN__SPIRV_TOOLS_SIZE]; /* that made `native` */
    atomic_int was_launched;
    atomic_int is_saved;          /* or was loaded from a saved binary */
    kiln__spirv_module *replicas; /* replicas on adopted devices */
    kiln__spirv_module *home;     /* of a replica: the original */
    kiln__spirv_module *next_of_home, *next_of_device; /* for replicas */
};

/* Makes a module for the artifact, if the device runs its target; the driver
   sets `native`. */
kiln_status kiln__spirv_module_new(kiln__spirv_module **out,
                                   kiln__spirv_device *device,
                                   const kiln_artifact *artifact,
                                   kiln_error **error);
/* Takes the result of filling a module: gives the module to the caller, or
   frees it. */
kiln_status kiln__spirv_module_done(void **out, kiln__spirv_module *module,
                                    kiln_status status);
/* For a backend's table: finds a function, which the first call makes. */
kiln_status kiln__spirv_symbol(void *self, void *module, const char *name,
                               void **function, kiln_error **error);
void kiln__spirv_unload(void *self, void *module);

/* Returns the size that a driver is told for a parameter with `is_local`, whose
   value stands at `value`: at least 1, since drivers refuse 0. */
size_t kiln__spirv_local_size(const void *value);
/* Returns the limits of a launch's group. One that Kiln chooses is within those
   of both entries. */
kiln__group_limits kiln__spirv_limits(const kiln__spirv_function *function,
                                      const kiln_launch_request *request);
/* Takes an idle kernel object of one of the function's entries, and puts it
   back. */
kiln_status kiln__spirv_kernel_take(kiln__spirv_kernel **out,
                                    kiln__spirv_function *function,
                                    kiln__spirv_entry *entry,
                                    kiln_error **error);
void kiln__spirv_kernel_give(kiln__spirv_function *function,
                             kiln__spirv_kernel *kernel);
/* Begins a launch on the device: finds the function there and checks the
   group's memory. The driver then finds the shape, and makes the state that
   hidden arguments tell of. */
kiln_status kiln__spirv_launch_begin(kiln__spirv_function **out,
                                     kiln__spirv_device *device,
                                     const kiln_launch_request *request,
                                     kiln_error **error);
/* Completes the arguments, and takes a kernel object of the entry for a launch
   of that shape. */
kiln_status kiln__spirv_launch_take(kiln__spirv_kernel **out,
                                    kiln__spirv_function *function,
                                    const void *state,
                                    const kiln__launch_shape *shape,
                                    const kiln_launch_request *request,
                                    kiln_error **error);
/* True for a kernel of which hidden arguments tell of a state. */
int kiln__spirv_needs_state(const kiln__spirv_function *function);
/* Fills the hidden arguments of a launch by a caller, but not the heap. */
void kiln__spirv_fill_native(kiln_native_launch *out,
                             const kiln__spirv_function *function,
                             const void *state);
/* Gives the kernel object for a caller that launches by itself, of the entry
   for any launch; Kiln never uses it. */
kiln_status kiln__spirv_kernel_own(kiln__spirv_kernel **out,
                                   kiln__spirv_function *function,
                                   kiln_error **error);

/* ---- spirv_replica.c: kernels on adopted devices ---- */

/* Gives the function on that device; loads the artifact there if need be. */
kiln_status kiln__spirv_function_on(kiln__spirv_function **out,
                                    kiln__spirv_function *of,
                                    kiln__spirv_device *device,
                                    kiln_error **error);
/* Frees the replicas of a module that is unloaded. */
void kiln__spirv_replicas_end(kiln__spirv_module *home);
/* Frees the replicas on a device that is closed. */
void kiln__spirv_replicas_leave(kiln__spirv_device *device);

#endif /* KILN_SPIRV_BACKEND_H */
