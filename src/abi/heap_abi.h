/* heap_abi.h - the layout of a heap, which device code and drivers share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HEAP_ABI_H
#define KILN_HEAP_ABI_H

#include <stdint.h>

/*
 * The heap of a queue: this head, then for each page a word, then for each page
 * eight words of bits, then, from the next multiple of 64 bytes on, the pages.
 * heap.kiln defines the meaning of the words. The host writes the head once,
 * and before each launch of a kernel that allocates it writes zeros from
 * `changes` up to the pages.
 *
 * All is device memory that items of a launch see, aligned to 64.
 */
struct kiln__heap {
    uint32_t pages;
    uint32_t words;   /* number of 32-bit words of all this */
    uint32_t changes; /* the device writes from here on */
    uint32_t reserved[13];
};

#define KILN__HEAP_PAGE 4096u
#define KILN__HEAP_PAGE_WORDS 9u /* per page, before the pages */
#define KILN__HEAP_MAX ((uint64_t)8 << 30)
#define KILN__HEAP_DEFAULT ((uint64_t)8 << 20)

/* Message of an exception whose first value is the size in bytes. */
#define KILN__HEAP_MESSAGE "the heap has no room for"
/* That value where the sizes make none: heap_product() in heap.kiln gives it
   for a negative size, and for a product that no i64 holds. */
#define KILN__HEAP_NO_SIZE INT64_MAX
#define KILN__HEAP_NO_SIZE_MESSAGE \
    "a size is negative, or the sizes make too large an array"

_Static_assert(sizeof(struct kiln__heap) == 64, "arrays are aligned to 64");

/* The shape of a heap of `bytes`, which are at most KILN__HEAP_MAX, in whole
   pages. */
typedef struct kiln__heap_shape {
    uint32_t pages;
    uint64_t cleared; /* bytes to clear, from `changes` on */
    uint64_t size;    /* size of everything */
} kiln__heap_shape;

static inline kiln__heap_shape kiln__heap_measure(uint64_t bytes)
{
    kiln__heap_shape shape;
    uint64_t head;

    shape.pages = (uint32_t)((bytes + KILN__HEAP_PAGE - 1) / KILN__HEAP_PAGE);
    head = sizeof(struct kiln__heap) +
           sizeof(uint32_t) * KILN__HEAP_PAGE_WORDS * (uint64_t)shape.pages;
    shape.cleared = head - 2 * sizeof(uint32_t);
    shape.size =
        (head + 63) / 64 * 64 + (uint64_t)KILN__HEAP_PAGE * shape.pages;
    return shape;
}

#endif /* KILN_HEAP_ABI_H */
