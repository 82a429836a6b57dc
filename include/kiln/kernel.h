/* kiln/kernel.h - kernels, and the artifacts they are loaded from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_KERNEL_H
#define KILN_KERNEL_H

#include "kiln/config.h"

KILN_BEGIN_DECLS

/*
 * An artifact is the result of compiling a job: bytes that belong to no device,
 * one or more kernels with their metadata, sites and a relocation class. A
 * kernel is one entry of an artifact, loaded and ready to launch. Artifacts are
 * immutable and shared; a kernel is lent (kiln/context.h, "Threads"). All of
 * these functions may be called from any thread. Texts, bytes and metadata are
 * borrowed from the artifact.
 */

#define KILN_RELOCATION_PORTABLE 0    /* it holds no address */
#define KILN_RELOCATION_RELOCATABLE 1 /* slots, which a load fills by name */
#define KILN_RELOCATION_SESSION 2     /* holds an address of this process */

/** One argument of a kernel, in its packed argument block. */
typedef struct kiln_argument_info {
    const char *type; /* "f32[:]" */
    uint32_t offset;  /* in bytes; natural alignment, as in a C struct */
    uint32_t size;    /* in bytes; 0: the argument is not passed. An array is
                         its pointer, then its sizes and, when strided, its
                         strides as int64_t */
} kiln_argument_info;

/** A kernel's metadata, readable without a device. Everything is borrowed. */
typedef struct kiln_kernel_info {
    size_t size;
    const char *name;   /* the symbol in the payload */
    const char *method; /* "main.saxpy(f32[:], f32, f32[:])" */
    const kiln_argument_info *arguments;
    size_t argument_count;
    uint32_t argument_bytes;   /* of the packed block */
    uint32_t hidden_arguments; /* number of arguments after the packed block, as
                                  the backend documents */
    uint32_t static_local_bytes;
    uint32_t private_bytes;          /* per item; 0: unknown */
    uint32_t registers;              /* per item; 0: unknown */
    uint32_t required_group_size[3]; /* 0: any */
    uint32_t maximum_group_size;     /* 0: the device's */
    uint32_t sub_group_size;         /* 0: the device's */
    int32_t can_fail;                /* may raise an exception */
    uint32_t spill_bytes;  /* per item, of values for which there were no
                              registers; 0: none, or unknown */
    int32_t allocates;     /* it takes memory of the queue's heap */
    uint32_t stack_bytes;  /* stack that the kernel needs on the host; 0:
                              unknown */
    int32_t dynamic_local; /* it uses group memory whose size a launch gives
                              (kiln_launch.dynamic_local_bytes) */
    int32_t any_block;     /* KILN_ANY_BLOCK_...; not 0: the block of a launch
                              need not divide its grid; 0: on a device it must */
    uint32_t inner_dimension; /* of the grid: neighbours along it access
                                 neighbouring elements, so the host's loop over
                                 its items is the innermost one. 0 on devices,
                                 and if any_block is not KILN_ANY_BLOCK_ALIKE */
} kiln_kernel_info;

/** Values of kiln_kernel_info.any_block. */
#define KILN_ANY_BLOCK_RUNS 1
/** The kernel also computes the same with every block. Only kernels for the
 * host say so. */
#define KILN_ANY_BLOCK_ALIKE 2

/** A reference in an artifact to an object or function of the host. */
typedef struct kiln_site_info {
    const char *name;  /* the name that the host's resolve callback gets */
    uint64_t offset;   /* of the slot in the payload, where it holds zero */
    uint32_t size;     /* of the slot, in bytes: 8; 0 under RESOLVE */
    uint32_t strategy; /* KILN_SITES_... */
} kiln_site_info;

/** Returns the payload's format, "elf", "cubin", "ptx", "spirv". */
KILN_API const char *kiln_artifact_format(const kiln_artifact *artifact);
/** Returns the resolved target that the artifact was made for. */
KILN_API const char *kiln_artifact_target(const kiln_artifact *artifact);
/** Returns KILN_RELOCATION_... */
KILN_API int32_t kiln_artifact_relocation(const kiln_artifact *artifact);
/** Returns the payload; `size`, in bytes, may be NULL. Borrowed. */
KILN_API const void *kiln_artifact_bytes(const kiln_artifact *artifact,
                                         size_t *size);
/** Returns how many kernels the artifact holds; 1 in this version. */
KILN_API size_t kiln_artifact_kernel_count(const kiln_artifact *artifact);
/** Returns the metadata of kernel `index`, or NULL beyond the last. */
KILN_API const kiln_kernel_info *kiln_artifact_kernel(
    const kiln_artifact *artifact, size_t index);
/** Returns how many sites the artifact has. */
KILN_API size_t kiln_artifact_site_count(const kiln_artifact *artifact);
/** Returns site `index`, or NULL beyond the last. */
KILN_API const kiln_site_info *kiln_artifact_site(const kiln_artifact *artifact,
                                                  size_t index);

/** Returns the table that gives meaning to the numbers that a device reports:
 *  the exceptions that the code may raise and the texts that it may print.
 *  Drivers read it. NULL if there is none. `size`, in bytes, may be NULL.
 *  Borrowed. */
KILN_API const void *kiln_artifact_reports(const kiln_artifact *artifact,
                                           size_t *size);

/** Adds a reference and returns the artifact. With a reference an artifact
 *  outlives its kernels and the context. NULL is fine. */
KILN_API const kiln_artifact *kiln_artifact_retain(
    const kiln_artifact *artifact);
/** Drops a reference. NULL is fine. */
KILN_API void kiln_artifact_release(const kiln_artifact *artifact);

/** Returns the kernel's artifact, borrowed from the kernel: retain it to keep
 *  it beyond a collection. */
KILN_API const kiln_artifact *kiln_kernel_artifact(const kiln_kernel *kernel);
/** Returns the kernel's metadata, borrowed from its artifact. */
KILN_API const kiln_kernel_info *kiln_kernel_get_info(
    const kiln_kernel *kernel);
/** Returns the config it was compiled for. */
KILN_API const kiln_config *kiln_kernel_config(const kiln_kernel *kernel);
/** Returns the code instance that the kernel was compiled from. For a kernel
 *  that came from a store it may have only name, signature and digest,
 *  without IR, callees and result type: kiln_infer() gives an instance that
 *  has them. */
KILN_API const kiln_code *kiln_kernel_code(const kiln_kernel *kernel);
/** True while no later definition has changed what the kernel means. A kernel
 *  that is no longer valid can be launched until it is collected. */
KILN_API int32_t kiln_kernel_is_valid(const kiln_kernel *kernel);

/**
 * Stores the driver's own handle (CUfunction, hipFunction_t, cl_kernel,
 * ze_kernel_handle_t). Its arguments are the packed block's members in order,
 * then the backend's documented hidden arguments. On the host it is the
 * address of the entry, whose parameters are Kiln's own: launch it through a
 * queue. KILN_ENODEVICE for a kernel that was made for an offline device.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_kernel_native(void **out, const kiln_kernel *kernel, kiln_error **error);

KILN_END_DECLS

#endif /* KILN_KERNEL_H */
