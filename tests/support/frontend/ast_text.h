/* ast_text.h - writes syntax trees as short texts that tests compare. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_AST_TEXT_H
#define KILN_TESTS_AST_TEXT_H

#include "frontend/syntax/ast.h"

/*
 * `a + b[0] * 2.5` becomes "(+ a (* (index b 0) 2.5f))". A string keeps its
 * quotes, and an absent child is "-".
 */
void ast_text(const kiln__ast *tree, char *out, size_t size);

#endif /* KILN_TESTS_AST_TEXT_H */
