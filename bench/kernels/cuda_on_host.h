/* cuda_on_host.h - runs a kernel in CUDA C on the host, item after item. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For check.py, which compiles a kernel together with this and a main program.
 * The items of a block are contexts of one thread that change at barriers, so
 * a variable of the block is a static one.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(n)

using std::abs;
using std::fabs;
using std::max;
using std::min;

struct position {
    unsigned x, y, z;
};

static position threadIdx, blockIdx, blockDim, gridDim;

static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

template <class T> static T atomicAdd(T *at, T more)
{
    T old = *at;

    *at += more;
    return old;
}

struct item {
    ucontext_t context;
    position place;
    std::vector<char> stack;
    bool is_done;
};

static ucontext_t around;
static item *running;
static std::function<void()> kernel;

static void __syncthreads()
{
    swapcontext(&running->context, &around);
}

static void run_item()
{
    kernel();
    running->is_done = true;
}

static void run_block(std::vector<item> &items)
{
    bool is_busy = true;
    unsigned i = 0;

    for (item &one : items) {
        one.place = {i % blockDim.x, i / blockDim.x % blockDim.y,
                     i / blockDim.x / blockDim.y};
        one.is_done = false;
        one.stack.resize(65536);
        getcontext(&one.context);
        one.context.uc_stack.ss_sp = one.stack.data();
        one.context.uc_stack.ss_size = one.stack.size();
        one.context.uc_link = &around;
        makecontext(&one.context, run_item, 0);
        i++;
    }
    while (is_busy) {
        is_busy = false;
        for (item &one : items) {
            if (one.is_done)
                continue;
            running = &one;
            threadIdx = one.place;
            swapcontext(&around, &one.context);
            is_busy = true;
        }
    }
}

/* Runs what kernel() calls for each item of a grid of blocks. */
static void launch(position blocks, position items)
{
    std::vector<item> all(items.x * items.y * items.z);

    gridDim = blocks;
    blockDim = items;
    for (blockIdx.z = 0; blockIdx.z < blocks.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < blocks.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < blocks.x; blockIdx.x++)
                run_block(all);
}

/* The bytes of a file, and their way back. */
template <class T> static T *read_array(const char *path, size_t count)
{
    T *array = static_cast<T *>(malloc(count * sizeof(T)));
    FILE *file = fopen(path, "rb");

    if (file == nullptr || fread(array, sizeof(T), count, file) != count)
        exit(1);
    fclose(file);
    return array;
}

template <class T>
static void write_array(const char *path, const T *array, size_t count)
{
    FILE *file = fopen(path, "wb");

    if (file == nullptr || fwrite(array, sizeof(T), count, file) != count ||
        fclose(file) != 0)
        exit(1);
}
