/* nvrtc_peer.c - the comparison from CUDA C++ to a cubin, without a device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>

#include "nvrtc.h"
#include "peer.h"

/*
 * NVRTC keeps nothing, so a program that wants a cache has its own. PEER_NVRTC
 * in the environment names the library; otherwise it is libnvrtc.so.
 */
static int open_nvrtc(const char *folder)
{
    (void)folder;
    return nvrtc_open(getenv("PEER_NVRTC"));
}

static int compile(const char *factor)
{
    const int good = nvrtc_compile("-arch=sm_90", factor) > 0;

    if (!good)
        fprintf(stderr, "NVRTC fails\n");
    return good;
}

static int execute(float *y, const float *x, size_t size)
{
    (void)y;
    (void)x;
    (void)size;
    return compile("-DFACTOR=a");
}

static int variant(int constant, float *y, const float *x, size_t size)
{
    char option[32];

    (void)y;
    (void)x;
    (void)size;
    snprintf(option, sizeof option, "-DFACTOR=%d.0f", constant);
    return compile(option);
}

static void close_nothing(void)
{
}

static void tell(struct peer_about *about)
{
    int major = 0, minor = 0;

    if (!open_nvrtc("")) {
        about->absent = "there is no libnvrtc.so that makes cubins";
        return;
    }
    nvrtc_version(&major, &minor);
    snprintf(about->version, sizeof about->version, "%d.%d", major, minor);
}

int main(int argc, char **argv)
{
    const struct peer peer = {.about = tell,
                              .open = open_nvrtc,
                              .execute = execute,
                              .variant = variant,
                              .close = close_nothing};

    return peer_main(argc, argv, &peer);
}
