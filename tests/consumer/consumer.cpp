/* consumer.cpp - a C++ program against an installed Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstdio>
#include <memory>
#include <string>

#include <kiln.h>

int main()
{
    kiln_context *made = nullptr;
    kiln_error *error = nullptr;

    if (std::string(kiln_version()) != KILN_VERSION_STRING)
        return 1;
    if (kiln_context_new(&made, nullptr, &error) != KILN_OK) {
        std::fprintf(stderr, "%s\n", kiln_error_message(error));
        kiln_error_free(error);
        return 1;
    }
    std::unique_ptr<kiln_context, decltype(&kiln_context_free)> context(
        made, kiln_context_free);
    std::printf("Kiln %s\n", kiln_version());
    return 0;
}
