/* opencl_prelude.h - what Kiln adds to clang's header of OpenCL C. The build
   embeds it; every source begins with it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPENCL_PRELUDE_H
#define KILN_OPENCL_PRELUDE_H

/*
 * Copies between global and group memory are made by the whole group, item by
 * item, and waiting for them is a barrier. An event is a number that nobody
 * reads.
 */
#define event_t ulong

/* OpenCL C 1.0 and 1.1 have no `static`. */
#define KILN__OWN inline __attribute__((internal_linkage, always_inline))

KILN__OWN __attribute__((overloadable)) size_t kiln__stride_to(
    local const void *to, size_t stride)
{
    return 1;
}
KILN__OWN __attribute__((overloadable)) size_t kiln__stride_to(
    global const void *to, size_t stride)
{
    return stride;
}
KILN__OWN size_t kiln__item(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) *
               get_local_size(0) +
           get_local_id(0);
}
KILN__OWN size_t kiln__items(void)
{
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

#undef KILN__OWN

#define async_work_group_strided_copy(to, from, count, stride, event) \
    (__extension__({ \
        __typeof__(&(to)[0]) kiln__to = (to); \
        __typeof__(&(from)[0]) kiln__from = (from); \
        const size_t kiln__count = (count); \
        const size_t kiln__stride = (stride); \
        const size_t kiln__wide = kiln__stride_to(kiln__to, kiln__stride); \
        const size_t kiln__narrow = kiln__stride_to(kiln__from, kiln__stride); \
        for (size_t kiln__i = kiln__item(); kiln__i < kiln__count; \
             kiln__i += kiln__items()) \
            kiln__to[kiln__i * kiln__wide] = \
                kiln__from[kiln__i * kiln__narrow]; \
        (event_t)(event); \
    }))
#define async_work_group_copy(to, from, count, event) \
    async_work_group_strided_copy(to, from, count, 1, event)
#define wait_group_events(count, events) \
    ((void)(count), (void)(events), \
     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE))

#endif /* KILN_OPENCL_PRELUDE_H */
