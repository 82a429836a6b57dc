/* signatures.c - kernels, and argument types that every backend is tested
   with. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/devices/signatures.h"

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

signature signatures[SIGNATURES_MAX];
size_t signature_count;

void signatures_read(void)
{
    FILE *file = fopen(KILN_TESTS_FOLDER "/language/signatures.txt", "r");
    char line[512];

    assert_non_null(file);
    signature_count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        signature *s = &signatures[signature_count++];

        assert_true(signature_count < SIGNATURES_MAX);
        line[strcspn(line, "\n")] = '\0';
        assert_true(sscanf(line, "%63s %47s | %255[^\n]", s->file, s->kernel,
                           s->types) >= 2);
    }
    fclose(file);
    assert_true(signature_count > 100);
}

int signature_is_first(size_t i)
{
    return i == 0 || strcmp(signatures[i].file, signatures[i - 1].file) != 0 ||
           strcmp(signatures[i].kernel, signatures[i - 1].kernel) != 0;
}

const char *signature_path(const signature *s)
{
    static char path[512];
    const char *folder = strchr(s->file, '/') == NULL ? "/language/" : "/../";

    assert_true(snprintf(path, sizeof path, "%s%s%s.kiln", KILN_TESTS_FOLDER,
                         folder, s->file) < (int)sizeof path);
    return path;
}
