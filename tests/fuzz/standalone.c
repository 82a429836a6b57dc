/* standalone.c - runs a fuzz target over a corpus, without libFuzzer. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LARGEST_INPUT ((size_t)1 << 20)

static int run_file(const char *folder, const char *name)
{
    /* Exactly as large as the input, so that a sanitizer sees an overrun. */
    uint8_t *bytes = malloc(LARGEST_INPUT);
    char path[4096];
    uint8_t *exact;
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (bytes == NULL || file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        free(bytes);
        return 1;
    }
    size = fread(bytes, 1, LARGEST_INPUT, file);
    fclose(file);
    exact = realloc(bytes, size == 0 ? 1 : size);
    (void)LLVMFuzzerTestOneInput(exact == NULL ? bytes : exact, size);
    free(exact == NULL ? bytes : exact);
    return 0;
}

static int run_folder(const char *path, int *runs)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int failures = 0;

    if (folder == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        failures += run_file(path, entry->d_name);
        (*runs)++;
    }
    closedir(folder);
    return failures;
}

int main(int count, char **arguments)
{
    int failures = 0, runs = 0;

    if (count < 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER...\n", arguments[0]);
        return 2;
    }
    for (int i = 1; i < count; i++)
        failures += run_folder(arguments[i], &runs);
    printf("%d inputs\n", runs);
    return failures != 0 || runs == 0;
}
