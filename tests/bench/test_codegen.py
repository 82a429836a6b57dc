# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of machine code: graphs, loops that are unrolled, cold blocks, and
what is made of the counts."""

import os
import sys
import types
import unittest
import xml.dom.minidom

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "bench")
for folder in ("harness", "codegen", "kernels"):
    sys.path.insert(0, os.path.join(BENCH, folder))

import cases        # noqa: E402
import code_gate    # noqa: E402
import codegen      # noqa: E402
import count        # noqa: E402
import machines     # noqa: E402
import plain        # noqa: E402
import readme       # noqa: E402
import record       # noqa: E402
import sides        # noqa: E402
import x86          # noqa: E402


def sass_of(lines):
    """A listing: labels end in a colon, all else are instructions."""
    text = ["k:", ".text.k:"]
    for i, line in enumerate(lines):
        text.append(line if line.endswith(":") else
                    f"        /*{16 * i:04x}*/                   {line} ;")
    return "\n".join(text)


def case_of(nests):
    return types.SimpleNamespace(name="k", nests=[cases.Nest(one)
                                                  for one in nests])


def body(loads):
    return ["LDG.E R2, desc[UR4][R4.64]"] * loads


def profile(lines, nests=()):
    functions = machines.sass(sass_of(lines), "k")
    return count.profile(functions, case_of(nests))


class Loops(unittest.TestCase):
    def test_an_unrolled_body_counts_as_iterations_of_the_source(self):
        rolled = profile(["MOV R1, R2", ".L_x_0:", *body(1), "ISETP.NE P0",
                          "@P0 BRA `(.L_x_0)", "EXIT"], ["100 ldg:4"])
        self.assertEqual(rolled["work"], 1 + 100 * 3 + 1)
        self.assertEqual(rolled["loop"], 3)
        unrolled = profile(["MOV R1, R2", ".L_x_0:", *body(4), "ISETP.NE P0",
                            "@P0 BRA `(.L_x_0)", "EXIT"], ["100 ldg:4"])
        self.assertEqual(unrolled["work"], 1 + 25 * 6 + 1)
        self.assertEqual(unrolled["loop"], 1.5)

    def test_what_unrolling_leaves_over_is_not_run(self):
        lines = [".L_x_0:", *body(4), "@P0 BRA `(.L_x_0)",
                 ".L_x_1:", *body(1), "@P1 BRA `(.L_x_1)", "EXIT"]
        self.assertEqual(profile(lines, ["100 ldg:4"])["work"], 25 * 5 + 1)

    def test_an_outer_loop_runs_as_often_as_the_case_says(self):
        lines = [".L_x_0:", "MOV R1, R2", ".L_x_1:", *body(1),
                 "@P0 BRA `(.L_x_1)", "@P1 BRA `(.L_x_0)", "EXIT"]
        found = profile(lines, ["5,8 ldg:4"])
        self.assertEqual(found["work"], 5 * 2 + 40 * 2 + 1)
        self.assertEqual(found["guesses"], 0)

    def test_nests_differ_by_what_they_count(self):
        """A main loop and what is left of it, twice."""
        loads, stores = body(4) + ["FADD R1, R2, R3"], body(1)
        stores += ["STG.E [R2], R4"]
        lines = [".L_x_0:", *loads, "@P0 BRA `(.L_x_0)",
                 ".L_x_1:", *body(2), "@P1 BRA `(.L_x_1)",
                 ".L_x_2:", *stores, "@P1 BRA `(.L_x_2)", "EXIT"]
        found = profile(lines, ["10 stg:4", "8 ldg:4!flop", "100 ldg:4"])
        self.assertEqual(found["work"], 10 * 3 + 4 * 3 + 25 * 6 + 1)

    def test_nests_of_one_kind_come_in_order(self):
        lines = [".L_x_0:", *body(4), "@P0 BRA `(.L_x_0)",
                 ".L_x_1:", *body(2), "@P1 BRA `(.L_x_1)", "EXIT"]
        found = profile(lines, ["100 ldg:4", "10 ldg:4"])
        self.assertEqual(found["work"], 25 * 5 + 5 * 3 + 1)

    def test_a_version_without_strides_is_not_run(self):
        wide = ["LDG.E.128 R2, desc[UR4][R4.64]"] * 2
        lines = [".L_x_0:", *wide, "@P0 BRA `(.L_x_0)",
                 ".L_x_1:", *body(2), "@P1 BRA `(.L_x_1)", "EXIT"]
        self.assertEqual(profile(lines, ["64 ldg:8+ldn"])["work"], 64 * 3 + 1)
        self.assertEqual(profile(lines, ["64 ldg:8"])["work"], 16 * 3 + 1)

    def test_another_version_of_a_loop_is_not_run(self):
        lines = [".L_x_0:", "MOV R1, R2", "@P0 BRA `(.L_x_0)",
                 ".L_x_1:", *body(1), "@P1 BRA `(.L_x_1)", "EXIT"]
        self.assertEqual(profile(lines, ["10 ldg:4"])["work"], 21)

    def test_a_nest_that_is_nowhere_is_a_guess(self):
        found = profile(["MOV R1, R2", "EXIT"], ["100 ldg:4"])
        self.assertEqual(found["guesses"], 1)
        found = profile([*body(8), "EXIT"], ["8 ldg:4"])
        self.assertEqual(found["guesses"], 0)

    def test_a_loop_of_which_nobody_knows_is_a_guess(self):
        found = profile([".L_x_0:", "MOV R1, R2", "@P0 BRA `(.L_x_0)",
                         "EXIT"])
        self.assertEqual((found["work"], found["guesses"]), (21, 1))

    def test_work_has_its_kinds(self):
        found = profile(["IADD3.X R1, R2, R3", "IMAD.MOV.U32 R1, R2", *body(2),
                         "ISETP.GE.AND.EX P0, PT", "EXIT"])
        self.assertEqual(found["mix"], {"control": 1, "memory": 2, "move": 1,
                                        "wide": 2})

    def test_a_double_word_is_two_loads_of_a_word(self):
        lines = [".L_x_0:", "LDG.E.64 R2, desc[UR4][R4.64]",
                 "@P0 BRA `(.L_x_0)", "EXIT"]
        self.assertEqual(profile(lines, ["100 ldg:4"])["work"], 101)


class Cold(unittest.TestCase):
    def test_raising_an_exception_is_not_run(self):
        lines = ["@P0 BRA `(.L_x_1)", "EXIT", ".L_x_1:", "MOV R1, R2",
                 "BRA `(.L_x_2)", ".L_x_2:",
                 "ATOMG.E.CAS.STRONG.SYS PT, R0, [R2], R8, R9",
                 "@P0 EXIT", "STG.E [R2], R4", "EXIT"]
        found = profile(lines)
        self.assertEqual((found["work"], found["instructions"]), (2, 8))

    def test_an_end_that_is_taken_leads_nowhere_cold(self):
        lines = ["MOV R1, R2", "@P0 EXIT", ".L_x_1:",
                 "ATOMG.E.CAS.STRONG.SYS PT, R0, [R2], R8, R9", "EXIT"]
        self.assertEqual(profile(lines)["work"], 2)

    def test_a_rare_case_of_a_division_is_not_run(self):
        lines = ["FCHK P0, R0, R1", "@!P0 BRA `(.L_x_5)",
                 "CALL.REL.NOINC `($__cuda_sm3x_div_rn_slowpath)", ".L_x_5:",
                 "EXIT"]
        self.assertEqual(profile(lines)["work"], 3)

    def test_a_function_that_is_called_counts(self):
        text = sass_of(["CALL.REL.NOINC `(g)", "EXIT"]) + \
            "\ng:\n" + sass_of(["MOV R1, R2", "RET.REL.NODEC R2 `(k)"]) \
            .split("\n", 2)[2]
        functions = machines.sass(text, "k")
        found = count.profile(functions, case_of([]))
        self.assertEqual((found["work"], found["calls"]), (4, 1))


class Others(unittest.TestCase):
    def test_amdgpu_jumps_by_addresses(self):
        text = ("0000000000001000 <k>:\n"
                "\tv_mov_b32_e32 v0, 0 // 000000001000: 7E\n"
                "\tglobal_load_dwordx2 v[0:1], v2, s[0:1] // 000000001004: D\n"
                "\tv_pk_fma_f32 v[0:1], v[2:3] // 00000000100C: D\n"
                "\ts_cbranch_scc0 65530 // 000000001014: BF <k+0x4>\n"
                "\ts_endpgm // 000000001018: BF\n\ts_nop 0 // 00000000101C: B")
        functions = machines.amdgpu(text, "k")
        found = count.profile(functions, case_of(["100 ldg:4"]))
        self.assertEqual((found["work"], found["instructions"]), (152, 5))
        self.assertEqual(found["memory"], {"ldg.8": 50})

    def test_spirv_knows_what_pointers_point_to(self):
        text = ("%p = OpVariable %_ptr_CrossWorkgroup_float CrossWorkgroup\n"
                "%k = OpFunction %void None %f\n%a = OpLabel\nOpBranch %b\n"
                "%b = OpLabel\n%x = OpLoad %float %p Aligned 4\n"
                "%y = OpExtInst %float %1 fma %x %x %x\n"
                "OpBranchConditional %c %b %e\n%e = OpLabel\nOpReturn\n"
                "OpFunctionEnd\n")
        functions = machines.spirv(text, "k")
        found = count.profile(functions, case_of(["10 flop:2"]))
        self.assertEqual(found["work"], 1 + 10 * 3 + 1)
        self.assertEqual(found["memory"], {"ldg.4": 10})


class Processors(unittest.TestCase):
    """Loops of vectors, in what LLVM's disassembler says."""

    @staticmethod
    def counted(body):
        lines = [f"{0x10 + i:x}: \t{line}" for i, line in enumerate(body)]
        return x86.profile("\n".join(["0000000000000010 <k>:", *lines]))

    def test_an_innermost_loop_of_vectors_counts_once(self):
        self.assertEqual(self.counted([
            "xorl\t%eax, %eax", "vmovups\t(%rdi,%rax,4), %ymm0",
            "vmovups\t%ymm0, (%rsi,%rax,4)", "nopw\t(%rax,%rax)",
            "addq\t$8, %rax", "jb\t0x11 <k+0x1>",
            "decq\t%rcx", "jne\t0x10 <k>", "retq"]),
            {"loops": 1, "instructions": 4})

    def test_a_loop_of_numbers_does_not_count(self):
        self.assertEqual(self.counted([
            "vmovss\t(%rdi,%rax,4), %xmm0", "vaddss\t%xmm1, %xmm0, %xmm0",
            "jne\t0x10 <k>", "vmovups\t%ymm0, (%rsi)", "retq"]),
            {"loops": 0, "instructions": 0})


class Resources(unittest.TestCase):
    def test_waves_are_bounded_by_registers(self):
        self.assertEqual(sides.waves(32, 2048, 8, 64), 64)
        self.assertEqual(sides.waves(33, 2048, 8, 64), 51)
        self.assertEqual(sides.waves(0, 512, 8, 8), 8)


class Cases(unittest.TestCase):
    def test_each_has_its_files_and_their_kernel(self):
        found = cases.read()
        names = {one.name for one in found if one.has(".cu")}
        self.assertGreaterEqual(len(names), 40)
        self.assertGreaterEqual(len(found) - len(names), 20)
        self.assertTrue(set(code_gate.KERNELS) <= names)
        self.assertTrue(set(code_gate.ON_HOST) <= {one.name for one in found})
        for case in found:
            for suffix in (".kiln", ".cl", ".c", ".cu"):
                if suffix == ".cu" and case.name not in names:
                    continue
                with open(case.path(suffix), encoding="utf-8") as file:
                    self.assertIn(f"{case.name}(", file.read())

    def test_may_be_larger(self):
        case = cases.Case("k | 64 8 | 32 8 | - | f64[64,9]=rand%64 i32:8 f32:2 "
                          "| 64=128 128=7")
        larger = case.larger()
        self.assertEqual((larger.grid, larger.block), ([128, 8], [32, 8]))
        self.assertEqual(larger.arguments[0].sizes, [128, 9])
        self.assertEqual(larger.arguments[0].value, "rand%128")
        self.assertEqual(case.grid, [64, 8])

    def test_in_plain_c_is_called_with_addresses(self):
        case, = (one for one in cases.read() if one.name == "scan")
        self.assertIn("scan(a[0], a[1], 65536);", plain.text_of(case))
        case, = (one for one in cases.read() if one.name == "saxpy")
        self.assertIn("saxpy(a[0], *(const float *)a[1], a[2], "
                      "*(const int *)a[3]);", plain.text_of(case))

    def test_arguments_say_what_they_are(self):
        one = cases.Argument("~f32[4,2]=rand", 3)
        self.assertEqual((one.kiln_type(), one.items(), one.is_size),
                         ("f32[:,:]", 8, True))
        self.assertTrue(all(0 <= x < 1 for x in one.data()))
        self.assertEqual(list(cases.Argument("i32[4]=rows%8", 0).data()),
                         [0, 7, 14, 24])
        with self.assertRaises(ValueError):
            cases.Argument("f31:2", 0)


class Gate(unittest.TestCase):
    def verdicts(self, want=None, **got):
        want = want or {"work": 100, "registers": 10, "stack": 0}
        return code_gate.compare({"k": want}, {"k": {**want, **got}}).too_much

    def test_allows_a_twentieth_and_a_register_and_no_stack(self):
        self.assertEqual(self.verdicts(), 0)
        self.assertEqual(self.verdicts(work=105, registers=11), 0)
        self.assertEqual(self.verdicts(work=106), 1)
        self.assertEqual(self.verdicts(registers=12), 1)
        self.assertEqual(self.verdicts(stack=8), 1)
        self.assertEqual(code_gate.compare({}, {"k": {}}).too_much, 1)

    def test_allows_no_loop_of_vectors_less(self):
        want = {"loops": 2, "instructions": 40}
        self.assertEqual(self.verdicts(want, instructions=42), 0)
        self.assertEqual(self.verdicts(want, instructions=43), 1)
        self.assertEqual(self.verdicts(want, loops=3), 0)
        self.assertEqual(self.verdicts(want, loops=1, instructions=20), 1)


class Report(unittest.TestCase):
    def lines(self):
        counts = {"instructions": 30, "registers": 12, "memory": {"ldg.4": 2},
                  "mix": {"float": 5}}
        lines = [{"kind": "machine", "cpu": "a processor", "cores": 2,
                  "memory_gib": 4, "kernel": "6", "date": "2026-01-02",
                  "commit": "abc", "versions": {}}]
        for name, work in (("a", 10), ("b", 40)):
            stem = f"codegen/{name}/sm_90/"
            lines += [record.figure(stem + "plain", "nvrtc", "count", [10],
                                    **counts),
                      record.figure(stem + "unchecked", "kiln", "count",
                                    [work], **counts),
                      record.figure(stem + "unchecked/ratio", "nvrtc",
                                    "ratio", [work / 10], registers=1.0)]
        return lines

    def test_has_means_and_the_worst(self):
        table = codegen.tables(self.lines())["codegen"]
        self.assertIn("| sm_90 | nvrtc | 2 | 2.00 | 4.00 b | 1.00 |", table)

    def test_has_what_the_work_is(self):
        table = codegen.tables(self.lines())["codegen-mix"]
        self.assertIn("| Kiln, unchecked | 0.50 |", table)

    def test_has_its_places_in_the_readme(self):
        with open(readme.PATH, encoding="utf-8") as file:
            text = file.read()
        for name, body_ in codegen.tables(self.lines()).items():
            self.assertIn(body_, readme.replaced(text, name, body_))

    def test_is_drawn_with_a_mark_for_each_ratio(self):
        drawn = xml.dom.minidom.parseString(codegen.drawing(self.lines()))
        marks = [one for one in drawn.getElementsByTagName("circle")
                 if one.getAttribute("r") == "4"]
        self.assertEqual(len(marks), 2)
        self.assertIsNone(codegen.drawing([]))


if __name__ == "__main__":
    unittest.main()
