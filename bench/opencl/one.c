/* one.c - a process that runs one case on one system. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "cases.h"

/* ONE_KILN or ONE_PEER, given by the build, says on which. */
#ifdef ONE_KILN
static int run(case_run *out, const cl_case *c)
{
    const int is_right = kiln_open(NULL) && kiln_run(out, c, 0);

    kiln_close();
    return is_right;
}
#else
static int run(case_run *out, const cl_case *c)
{
    const int is_right = peer_open() && peer_run(out, c, 0);

    peer_close();
    return is_right;
}
#endif

static int take(const cl_case *c, void *env)
{
    case_run out = {{NULL}, 0, 0};
    int *is_right = env;

    *is_right = run(&out, c);
    run_dispose(&out);
    return 0;
}

int main(int count, char **words)
{
    int is_right = 0;

    if (count != 3) {
        (void)fprintf(stderr, "usage: %s CASES NAME\n", words[0]);
        return 2;
    }
    (void)cases_each(words[1], words[2], take, &is_right);
    return !is_right;
}
