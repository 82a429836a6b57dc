/* test_hints.c - who does what a hint says has a program without that error. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <stdio.h>
#include <string.h>

#include "kiln/compile.h"

/* A text whose first diagnostic has the hint, and the text with the advice
   taken, which is right. Both are inferred for f or kernel k of the types. */
typedef struct row {
    const char *types; /* separated by semicolons */
    const char *wrong;
    const char *hint;
    const char *right;
} row;

#define F(body) "fn f(x)\n" body "end\n"
#define K(body) "kernel k(y, x)\n" body "end\n"

static const row rows[] = {
    /* ---- types ---- */
    {"f32[:];f32[:]",
     "struct Box\n    data: f32[:]\n    n: i64\nend\n" K("    y[0] = x[0]\n"),
     "pass arrays as arguments of their own",
     "struct Box\n    n: i64\nend\n" K("    b = Box(1)\n    y[b.n] = x[0]\n")},
    {"f32[:];f32[:]",
     "struct Box{T}\n    data: T\nend\n" K("    b = Box(x)\n    y[0] = 1\n"),
     "pass arrays as arguments of their own",
     "struct Box{T}\n    data: T\nend\n" K("    b = Box(x[0])\n"
                                           "    y[0] = b.data\n")},
    {"f32[:];f32[:]",
     "struct Box{T}\n    data: (T[:], i64)\nend\n" K("    y[0] = 1\n"),
     "pass arrays as arguments of their own",
     "struct Box{T}\n    data: (T, i64)\nend\n" K("    y[0] = 1\n")},
    {"f32[:];f32[:]", "struct Box\n    data: Array\nend\n" K("    y[0] = 1\n"),
     "pass arrays as arguments of their own",
     "struct Box\n    data: f32\nend\n" K("    y[0] = 1\n")},
    {"f32", "struct Box\n    data: Real\nend\n" F("    return Box(x).data\n"),
     "give the struct a type parameter for it",
     "struct Box{T}\n    data: T\nend\n" F("    return Box(x).data\n")},
    {"f32", "struct P{T, N}\n    a: T\nend\n" F("    return P(x).a\n"),
     "name the parameters: P{...}(...)",
     "struct P{T, N}\n    a: T\nend\n" F("    return P{f32, 3}(x).a\n")},
    {"f32", "struct P\n    a\nend\n" F("    return P(x).a\n"),
     "write `x: f32`, or `x: T` in `struct P{T}`",
     "struct P{T}\n    a: T\nend\n" F("    return P(x).a\n")},
    {"f32", "struct P\n    a: f32, b: f32\nend\n" F("    return P(x, x).a\n"),
     "a new line or `;` stands between fields",
     "struct P\n    a: f32; b: f32\nend\n" F("    return P(x, x).a\n")},
    {"f32",
     "struct P{T}\n    a: T\nend\n" F("    p: P = P(x)\n    return p.a\n"),
     "give its parameters in braces",
     "struct P{T}\n    a: T\nend\n" F("    p: P{f32} = P(x)\n"
                                      "    return p.a\n")},
    {"f32", "struct P\n    width: f32\nend\n" F("    return P(x).widht\n"),
     "did you mean `width`?",
     "struct P\n    width: f32\nend\n" F("    return P(x).width\n")},
    {"f32", F("    y: f32[4] = x\n    return x\n"),
     "sizes stand in `local t = f32[16]` only",
     F("    y: f32 = x\n    return y\n")},
    {"f32", F("    v: Vec{f32, 0} = 0\n    return x\n"), "as in Vec{f32, 4}",
     F("    v = zero(Vec{f32, 4})\n    return v[0] + x\n")},
    {"f32", F("    y: f32[4]\n    return x\n"),
     "an item's own array is a `Vec{f32, 16}`",
     F("    y = zero(Vec{f32, 4})\n    return y[0]\n")},
    {"f32", "fn f(x: flaot) = x\n", "did you mean", "fn f(x: f32) = x\n"},
    {"f32", "fn f{T}(x: T) = x\n", "write `fn f(x: T) where T`",
     "fn f(x: T) where T = x\n"},
    {"f32", "fn f(x: T) where {T} = x\n", "write `where T: Real, N`",
     "fn f(x: T) where T: Real = x\n"},
    {"f32", "fn f(x: T) where T <: Real = x\n", "write `T: Real`",
     "fn f(x: T) where T: Real = x\n"},
    {"f32", "fn f(x) where T = x\n", "use it in the type of a parameter",
     "fn f(x: T) where T = x\n"},
    {"f32", "fn sin(x) = x\nfn f(x) = sin(x)\n", "choose another name",
     "fn sinus(x) = x\nfn f(x) = sinus(x)\n"},
    {"f32", "struct f32\n    a: i64\nend\nfn f(x) = x\n", "choose another name",
     "struct Real2\n    a: i64\nend\nfn f(x) = x\n"},

    /* ---- constants and literals ---- */
    {"f32", "const N: f32 = 1\nfn f(x) = x\n", "write `const X = f32(1.5)`",
     "const N = f32(1)\nfn f(x) = x * N\n"},
    {"f32", "N = 4\nfn f(x) = x\n", "a constant is written `const N = 4`",
     "const N = 4\nfn f(x) = x * N\n"},
    {"f32", "fn f(x) = x + 1.5f\n",
     "literals have no suffix: write `f32(1.5)` or `u8(1)`",
     "fn f(x) = x + f32(1.5)\n"},
    {"f32", "fn f(x) = x + 1__0\n", "`_` stands between two digits",
     "fn f(x) = x + 1_0\n"},
    {"f32", "fn f(x) = 2x\n", "put an operator between number and name",
     "fn f(x) = 2 * x\n"},
    {"f32", "fn f(x) = 2(x + 1)\n", "a product is written `2 * (x + 1)`",
     "fn f(x) = 2 * (x + 1)\n"},
    {"u8", F("    z: u8 = 1.5\n    return z\n"),
     "a float literal adapts to float types only",
     F("    z: f32 = 1.5\n    return z\n")},
    {"", "fn f() = i8(3.5)\n", "trunc(T, x) saturates, wrap(T, x) cuts",
     "fn f() = trunc(i8, 3.5)\n"},
    {"", "fn f()\n    print(9223372036854775808)\n    return 1\nend\n",
     "alone a literal is i64; write u64(...)",
     "fn f()\n    print(u64(9223372036854775808))\n    return 1\nend\n"},
    {"f32", F("    n: u8 = x * 255\n    return n\n"),
     "`trunc(u8, x)` cuts off and saturates",
     F("    n = trunc(u8, x * 255)\n    return n\n")},
    {"f32", F("    return round(u8, x)\n"), "write `u8(round(x))`",
     F("    return u8(round(x))\n")},
    {"u8", F("    return x >= 'a'\n"), "a character is its number, 97",
     F("    return x >= 97\n")},
    {"i32", F("    return x > 0 ? x : i64(2)\n"), "convert one: i64(...)",
     F("    return x > 0 ? i64(x) : i64(2)\n")},
    {"i32", "fn f(x) = 7 / 2 + x\n", "write `//` for integers",
     "fn f(x) = 7 // 2 + x\n"},
    {"i32", "fn f(x) = x ** -1\n", "convert the base to a float",
     "fn f(x) = f64(x) ** -1\n"},
    {"", "fn f() = 2 ** -1\n", "write 2.0 for a float", "fn f() = 2.0 ** -1\n"},

    /* ---- operators and conditions ---- */
    {"f32", F("    if x > 0\n        return x\n    end if\n    return 0 * x\n"),
     "`end` stands alone, whatever it ends",
     F("    if x > 0\n        return x\n    end\n    return 0 * x\n")},
    {"i32", F("    if x\n        return 1\n    end\n    return 2\n"),
     "compare it: x != 0",
     F("    if x != 0\n        return 1\n    end\n    return 2\n")},
    {"i32", F("    if x = 0\n        return 1\n    end\n    return 2\n"),
     "write `==` to compare",
     F("    if x == 0\n        return 1\n    end\n    return 2\n")},
    {"i32", F("    if x == 0:\n        return 1\n    end\n    return 2\n"),
     "leave it out",
     F("    if x == 0\n        return 1\n    end\n    return 2\n")},
    {"i32",
     F("    if x == 0\n        return 1\n    else if x == 1\n"
       "        return 2\n    end\n    return 3\n"),
     "write `elseif`",
     F("    if x == 0\n        return 1\n    elseif x == 1\n"
       "        return 2\n    end\n    return 3\n")},
    {"i32", "fn f(x) = 0 < x < 4\n", "write `a < b && b < c`",
     "fn f(x) = 0 < x && x < 4\n"},
    {"i32", "fn f(x) = !x\n", "compare it with 0, or write `~` for bits",
     "fn f(x) = ~x\n"},
    {"Bool", "fn f(x) = not x\n", "write `!`", "fn f(x) = !x\n"},
    {"i32", "fn f(x) = +x\n", "leave it out", "fn f(x) = x\n"},
    {"Bool", "fn f(x) = x + 1\n", "i32(b) gives 0 or 1",
     "fn f(x) = i32(x) + 1\n"},
    {"i32;u32", "fn f(x, y) = x + y\n", "convert one of them: i32(...) or u32",
     "fn f(x, y) = x + i32(y)\n"},
    {"Vec{f32,4};f64", "fn f(x, y) = x + y\n", "convert it: f32(...)",
     "fn f(x, y) = x + f32(y)\n"},
    {"i64", "fn f(x) = sin(x)\n", "convert it: f32(...) or f64(...)",
     "fn f(x) = sin(f64(x))\n"},

    /* ---- statements ---- */
    {"i64", F("    x + 1\n    return x\n"),
     "assign it, `x = ...`, or return it", F("    z = x + 1\n    return z\n")},
    {"i64", F("    x == 1\n    return x\n"), "`=` assigns, `==` compares",
     F("    x = 1\n    return x\n")},
    {"i64", F("    x++\n    return x\n"), "write `i += 1`",
     F("    x += 1\n    return x\n")},
    {"i64", F("    x--\n    return x\n"), "write `i -= 1`",
     F("    x -= 1\n    return x\n")},
    {"i64", F("    let z = 1\n    return z\n"), "leave it out: `x = 0`",
     F("    z = 1\n    return z\n")},
    {"i64", F("    int z = 1\n    return z\n"),
     "write `z = 0`, or with a type `z: i32 = 0`",
     F("    z: i32 = 1\n    return z\n")},
    {"i64", F("    z: f32\n    return x\n"), "write `x: f32 = 0`",
     F("    z: f32 = 0\n    return z\n")},
    {"f32[:];f32[:]", K("    shared f32 t[256]\n    y[0] = x[0]\n"),
     "write `local t = f32[256]`",
     K("    local t = f32[256]\n    t[0] = x[0]\n    y[0] = t[0]\n")},
    {"i64", F("    throw x\n    return x\n"), "write `assert(c, \"text\")`",
     F("    assert(x > 0, \"text\")\n    return x\n")},
    {"i64", F("    for i in 0:4\n        x += i\n    end\n    return x\n"),
     "write `lo..hi`; hi itself is not reached",
     F("    for i in 0..4\n        x += i\n    end\n    return x\n")},
    {"i64", F("    for i in 4\n        x += i\n    end\n    return x\n"),
     "write `for i in 0..n`",
     F("    for i in 0..4\n        x += i\n    end\n    return x\n")},
    {"i64",
     F("    for (i = 0; i < 4; i++)\n        x += i\n    end\n"
       "    return x\n"),
     "write `for i in 0..n`",
     F("    for i in 0..4\n        x += i\n    end\n    return x\n")},
    {"i64", F("    while x > 0\n        x -= 1\n    endwhile\n    return x\n"),
     "write `end`",
     F("    while x > 0\n        x -= 1\n    end\n    return x\n")},
    {"i64", F("    const N = 4\n    return x * N\n"),
     "write it above the function", "const N = 4\n" F("    return x * N\n")},
    {"(i64, i64)", F("    (a, b) = x\n    return a + b\n"),
     "leave the parentheses out: `a, b = t`",
     F("    a, b = x\n    return a + b\n")},
    {"i64", F("    z = print(x)\n    return x\n"),
     "write it on a line of its own", F("    print(x)\n    return x\n")},
    {"i64", F("    print((x, x))\n    return x\n"),
     "print its parts one by one", F("    print(x, x)\n    return x\n")},
    {"i64", F("    z = \"text\"\n    return x\n"),
     "strings stand in `print(\"x = \", x)` and `assert(c, \"text\")`",
     F("    print(\"text\", x)\n    return x\n")},
    {"i64", F("    static_assert(x > 0, \"no\")\n    return x\n"),
     "`assert` looks at it when the kernel runs",
     F("    assert(x > 0, \"no\")\n    return x\n")},
    {"i64", F("    /* text */\n    return x\n"), "a comment begins with `#`",
     F("    # text\n    return x\n")},

    /* ---- variables and results ---- */
    {"i64", F("    if x > 0\n        z = 1\n    end\n    return z\n"),
     "give it a value before the branch or loop that may not run",
     F("    z = 0\n    if x > 0\n        z = 1\n    end\n    return z\n")},
    {"f64", F("    z = 0\n    z = z + x\n    return z\n"), "begin with `z: f64",
     F("    z: f64 = 0\n    z = z + x\n    return z\n")},
    {"i64", F("    if x > 0\n        return 1\n    end\n"),
     "return a value on every path",
     F("    if x > 0\n        return 1\n    end\n    return 2\n")},
    {"i64", F("    if x > 0\n        return x\n    end\n    return f64(x)\n"),
     "all returns of a function have one type",
     F("    if x > 0\n        return f64(x)\n    end\n    return 2.5\n")},
    {"f32[:];f32[:]", K("    return x[0]\n"), "store the value in an array",
     K("    y[0] = x[0]\n")},
    {"f32[:];f32[:]", "kernel k(y, x) = x[0]\n",
     "write its statements up to `end`", K("    y[0] = x[0]\n")},
    {"i64", "fn f(x) = f(x - 1)\n",
     "some path must return without calling again",
     F("    if x <= 0\n        return 0\n    end\n    return f(x - 1)\n")},
    {"f32[:];f32[:]", K("    y[x[0]] = 1\n"), "an index is an integer",
     K("    y[trunc(i64, x[0])] = 1\n")},
    {"f32[:];f32[:]", K("    a = alocate(f32, 4)\n    y[0] = 1\n"),
     "did you mean `allocate`?",
     K("    a = allocate(f32, 4)\n    y[0] = 1\n    free(a)\n")},
    {"f32[:];f32[:]", K("    a = allocate(4, 4)\n    y[0] = 1\n"),
     "allocate(f32, n)",
     K("    a = allocate(f32, 4)\n    y[0] = 1\n    free(a)\n")},
    {"f32[:,:];f32[:]", K("    atomic_add(y, 0, x[0])\n"),
     "give the indices as a tuple: (i, j)",
     K("    atomic_add(y, (0, 0), x[0])\n")},
    {"f32", F("    return sqrrt(x)\n"), "did you mean `sqrt`?",
     F("    return sqrt(x)\n")},
    {"(i64, f32)", F("    i = 0\n    return x[i]\n"),
     "its elements differ in type; a static loop has such indices",
     F("    s: f32 = 0\n    for i in static(0..2)\n        s += f32(x[i])\n"
       "    end\n    return s\n")},
    {"(i64, f32)", "fn f(x) = x.a\n", "tuples are indexed: t[0]",
     "fn f(x) = x[0]\n"},
    {"i64", "def f(x) = x\n", "write `fn`", "fn f(x) = x\n"},

    /* ---- names of other languages, and reserved words ---- */
    {"f32", "fn f(x: float) = x\n", "the type is `f32`", "fn f(x: f32) = x\n"},
    {"f32", F("    d: double = 2\n    return x * d\n"), "the type is `f64`",
     F("    d: f64 = 2\n    return x * d\n")},
    {"f32[:];f32[:]", K("    i = threadIdx.x\n    y[i] = x[i]\n"),
     "write `local_id(0)`", K("    i = local_id(0)\n    y[i] = x[i]\n")},
    {"f32[:];f32[:]", K("    __syncthreads()\n    y[0] = x[0]\n"),
     "write `barrier()`", K("    barrier()\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    barrier\n    y[0] = x[0]\n"),
     "a call has parentheses", K("    barrier()\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    atomicAdd(y, 0, x[0])\n"),
     "write `atomic_add(a, i, v)`", K("    atomic_add(y, 0, x[0])\n")},
    {"f32[:];f32[:]", K("    y = x[1:3]\n"), "loop over `a[offset + i]`",
     K("    for i in 0..2\n        y[i] = x[1 + i]\n    end\n")},
    {"f32[:];f32[:]", K("    z = x * 2\n"),
     "operators take elements: `a[i] * b[i]` in a loop",
     K("    for i in 0..length(y)\n        y[i] = x[i] * 2\n    end\n")},
    {"f32[:];f32[:]", K("    z = -x\n"),
     "operators take elements: `-a[i]` in a loop",
     K("    for i in 0..length(y)\n        y[i] = -x[i]\n    end\n")},
    {"f32[:];f32[:]", K("    z = x + y\n"), "operators take elements",
     K("    z = x[0] + y[0]\n    y[0] = z\n")},
    {"i64", F("    for int i = 0; i < 3; i++\n    end\n    return x\n"),
     "write `for i in 0..n`", F("    for i in 0..3\n    end\n    return x\n")},
    {"(i64, i64)",
     F("    s = 0\n    static for i in 0..2\n        s += x[i]\n    end\n"
       "    return s\n"),
     "write `for i in static(0..4)`",
     F("    s = 0\n    for i in static(0..2)\n        s += x[i]\n    end\n"
       "    return s\n")},
    {"i64", F("    end = 3\n    return x\n"), "choose another name",
     F("    last = 3\n    return x + last\n")},
    {"i64", "fn f(in) = 1\n", "choose another name", "fn f(input) = 1\n"},
    {"i64", "fn f(for) = 1\n", "choose another name", "fn f(four) = 1\n"},
    {"i64", F("    return x + by\n"), "it is a reserved word",
     F("    return x + x\n")},
    {"i64", F("    return if x > 0\n"), "a choice of values is `c ? a : b`",
     F("    return x > 0 ? 1 : 2\n")},
    {"f32", "class P\n    a: f32\nend\nfn f(x) = P(x).a\n", "write `struct`",
     "struct P\n    a: f32\nend\nfn f(x) = P(x).a\n"},

    /* ---- as C, CUDA, OpenCL, Julia and Python write it ---- */
    {"f32;i32", "fn f(x, int n) = x * n\n", "write `n: i32`",
     "fn f(x, n: i32) = x * n\n"},
    {"f32[:];f32[:]", "kernel k(float *y, x)\n    y[0] = x[0]\nend\n",
     "`a: f32[:]`", "kernel k(y: f32[:], x)\n    y[0] = x[0]\nend\n"},
    {"f32[:];f32[:]", "__global__ void k(y, x)\n    y[0] = x[0]\nend\n",
     "write `kernel`", K("    y[0] = x[0]\n")},
    {"f32[:];f32[:]", "__kernel void k(y, x)\n    y[0] = x[0]\nend\n",
     "write `kernel`", K("    y[0] = x[0]\n")},
    {"f32", F("    unsigned int n = 3\n    return x * n\n"), "`x: u32 = 0`",
     F("    n: u32 = 3\n    return x * n\n")},
    {"f32", F("    const float n = 3\n    return x * n\n"), "`x: f32 = 0`",
     F("    n: f32 = 3\n    return x * n\n")},
    {"f32[:];f32[:]", K("    float t[16]\n    y[0] = x[0]\n"),
     "`local t = f32[256]`", K("    local t = f32[16]\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    local t = f32[4][4]\n    y[0] = x[0]\n"),
     "write `f32[16, 16]`", K("    local t = f32[4, 4]\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    local t: f32[4]\n    y[0] = x[0]\n"),
     "write `local t = f32[16]`", K("    local t = f32[4]\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    t = f32[4]\n    y[0] = x[0]\n"),
     "write `local t = f32[16]`", K("    local t = f32[4]\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    t = @cuStaticSharedMem(Float32, 4)\n"),
     "write `local t = f32[256]`",
     K("    local t = f32[4]\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    @inbounds y[0] = x[0]\n"),
     "write `inbounds`, the statements, `end`",
     K("    inbounds\n        y[0] = x[0]\n    end\n")},
    {"f32[:];f32[:]", K("    barrier(CLK_LOCAL_MEM_FENCE)\n"), "no flags",
     K("    barrier()\n    y[0] = x[0]\n")},
    {"f32[:];f32[:]", K("    i = get_global_id(0)\n    y[i] = x[i]\n"),
     "write `global_id(0)`", K("    i = global_id(0)\n    y[i] = x[i]\n")},
    {"f32[:];f32[:]", K("    i = cuda.grid(1)\n    y[i] = x[i]\n"),
     "`global_id(0)`", K("    i = global_id(0)\n    y[i] = x[i]\n")},
    {"f32", F("    z = (int)x\n    return z\n"), "a conversion is `i32(x)`",
     F("    z = i32(x)\n    return z\n")},
    {"f32", F("    z = x.astype(f64)\n    return z\n"),
     "a conversion is `f32(x)`", F("    z = f64(x)\n    return z\n")},
    {"f32", F("    z = convert_int(x)\n    return z\n"),
     "write `i32(x)`, or `trunc(i32, x)`",
     F("    z = trunc(i32, x)\n    return z\n")},
    {"f32", F("    z = as_uint(x)\n    return z\n"), "write `bitcast(u32, x)`",
     F("    z = bitcast(u32, x)\n    return z\n")},
    {"f32", F("    z = make_float2(x, x)\n    return z\n"),
     "write `Vec{f32, 2}(...)`",
     F("    z = Vec{f32, 2}(x, x)\n    return z\n")},
    {"f32", F("    z = float4(x, x, x, x)\n    return z\n"),
     "the type is `Vec{f32, 4}`",
     F("    z = Vec{f32, 4}(x, x, x, x)\n    return z\n")},
    {"Vec{f32,4}", "fn f(x) = x.y\n", "an element is `v[1]`",
     "fn f(x) = x[1]\n"},
    {"f32", "fn f(x) = __expf(x)\n", "write `exp(x)`, in `fastmath ... end`",
     F("    fastmath\n        return exp(x)\n    end\n")},
    {"f32", "fn f(x) = sqrtf(x)\n", "write `sqrt(x)`", "fn f(x) = sqrt(x)\n"},
    {"f32", "fn f(x) = std::sqrt(x)\n", "functions stand alone",
     "fn f(x) = sqrt(x)\n"},
    {"f32", "fn f(x) = ifelse(x > 0, 1, 2)\n", "write `select(c, a, b)`",
     "fn f(x) = select(x > 0, 1, 2)\n"},
    {"f32", "fn f(x) = x ^ 2\n", "a power is `x ** y`", "fn f(x) = x ** 2\n"},
    {"f32", "fn f(x) = x <> 1\n", "write `!=`", "fn f(x) = x != 1\n"},
    {"f32", "fn f(x) = x === 1\n", "write `==`", "fn f(x) = x == 1\n"},
    {"i64", "fn f(x) = x \xC3\xB7 2\n", "write `//`", "fn f(x) = x // 2\n"},
    {"i64", F("    z := x\n    return z\n"), "write `=`",
     F("    z = x\n    return z\n")},
    {"i64", F("    for i in 0..=3\n    end\n    return x\n"),
     "write `lo..hi + 1`", F("    for i in 0..4\n    end\n    return x\n")},
    {"i64", F("    for i in 0..9:2\n    end\n    return x\n"),
     "a range's step is `by s`",
     F("    for i in 0..9 by 2\n    end\n    return x\n")},
    {"i64", F("    // text\n    return x\n"), "a comment begins with `#`",
     F("    # text\n    return x\n")},
    {"i64", F("    pass\n    return x\n"), "leave it out", F("    return x\n")},
    {"i64", F("    assert x > 0\n    return x\n"), "write `assert(c)`",
     F("    assert(x > 0)\n    return x\n")},
    {"i64", F("    print(\"x = \" + x)\n    return x\n"),
     "write `print(\"x = \", x)`", F("    print(\"x = \", x)\n    return x\n")},
    {"f32[:];f32[:]", K("    y[0] = x[end]\n"), "`length(a) - 1`",
     K("    y[0] = x[length(x) - 1]\n")},
    {"f32[:];f32[:]", K("    y[0] = x[-1]\n"), "`length(a) - 1`",
     K("    y[0] = x[length(x) - 1]\n")},
    {"f32[:];f32[:]", K("    y[0] = x(0)\n"), "an element is `a[i]`",
     K("    y[0] = x[0]\n")},
    {"f32[:,:];f32[:]", K("    y[0][1] = x[0]\n"),
     "all indices stand together: `a[i, j]`", K("    y[0, 1] = x[0]\n")},
    {"f32[:];f32[:]", K("    y[0] = x.length\n"), "write `length(a)`",
     K("    y[0] = f32(length(x))\n")},
    {"f32[:];f32[:]", K("    z = x[:2]\n"), "loop over `a[offset + i]`",
     K("    for i in 0..2\n        y[i] = x[i]\n    end\n")},
    {"f32[:];f32[:]", K("    z = x[:]\n    y[0] = z[0]\n"),
     "itself is the whole array", K("    z = x\n    y[0] = z[0]\n")},
    {"f32[:];f32[:]", K("    y = sin(x)\n"), "take elements",
     K("    y[0] = sin(x[0])\n")},
    {"f32[:];f32[:]", K("    y .= x\n"), "in a loop over `a[i]`",
     K("    for i in 0..length(y)\n        y[i] = x[i]\n    end\n")},
    {"f32[:];f32[:]", K("    atomic_add(y[0], 1)\n"),
     "write `atomic_add(a, i, v)`", K("    atomic_add(y, 0, 1)\n")},
    {"f32[:];f32[:]", K("    z = null\n"), "there are no pointers",
     K("    y[0] = x[0]\n")},
    {"i64", "fn f(kernel) = kernel + 1\n",
     "choose another name, such as `weights`", "fn f(weights) = weights + 1\n"},
    {"i64", F("    fn = x\n    return x\n"), "choose another name, such as `f`",
     F("    g = x\n    return g\n")},
    {"f32", "struct P\n    in: f32\nend\nfn f(x) = P(x)\n",
     "choose another name, such as `input`",
     "struct P\n    input: f32\nend\nfn f(x) = P(x).input\n"},
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static kiln_status infer(program *p, const row *r, kiln_error **error)
{
    const kiln_type *list[KILN_ARGUMENTS_MAX];
    kiln_signature signature = {.types = list};
    const kiln_config *config = NULL;
    const kiln_code *code = NULL;
    char text[256], *rest = text;

    (void)snprintf(text, sizeof text, "%s", r->types);
    while (rest != NULL && *rest != '\0')
        list[signature.count++] = program_type(p, strsep(&rest, ";"));
    assert_ok(kiln_package_function(
        &signature.function, p->main,
        strstr(r->right, "kernel k") != NULL ? "k" : "f", &test_error));
    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    return kiln_infer(&code, p->context, &signature, config, 0, error);
}

static kiln_status compile(const row *r, const char *text, kiln_error **error)
{
    void *state = NULL;
    kiln_status status;
    program *p;

    assert_int_equal(program_setup(&state), 0);
    p = state;
    status = kiln_package_define(p->main, "test.kiln", text, strlen(text), NULL,
                                 error);
    if (status == KILN_OK)
        status = infer(p, r, error);
    assert_int_equal(program_teardown(&state), 0);
    return status;
}

static void each_advice_leads_to_a_right_program(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const kiln_diagnostic *d;
        kiln_error *error = NULL;

        if (compile(&rows[i], rows[i].wrong, &error) == KILN_OK)
            fail_msg("this is no error:\n%s", rows[i].wrong);
        d = kiln_error_diagnostic(error, 0);
        assert_non_null(d);
        if (d->hint == NULL || strstr(d->hint, rows[i].hint) == NULL)
            fail_msg("%s: %s (hint: %s), and not the hint '%s', of:\n%s",
                     d->code, d->message, d->hint != NULL ? d->hint : "none",
                     rows[i].hint, rows[i].wrong);
        kiln_error_free(error);
        assert_ok(compile(&rows[i], rows[i].right, &test_error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_advice_leads_to_a_right_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
