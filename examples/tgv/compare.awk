# compare.awk - holds a run's figures against the reference's.
# awk -f compare.awk -v type=f32|f64 REFERENCE RUN
#
# The tolerances are the ones between compilers: a run may contract to FMA and
# sum in any order, the reference does neither.

function check(what, got, want, relative, absolute,    gap)
{
    gap = got - want
    if (gap < 0)
        gap = -gap
    if (gap <= absolute || gap <= relative * (want < 0 ? -want : want))
        return
    printf "line %d: %s is %s, the reference has %s\n", row, what, got, want
    bad = 1
}

BEGIN {
    wide = type == "f64"
    near = wide ? 1e-10 : 1e-5
}

FNR == 1 { row = 0 }
/^#/ || NF == 0 { next }
NR == FNR { line[++rows] = $0; next }
row >= rows { next }
{
    row++
    n = split(line[row], want, " ")
    if ($1 == "L2") {
        check($1 " " $2, $3, want[3], near, 0)
        next
    }
    if ($1 == "probe") {
        check($1 " " $2, $3, want[3], 0, near)
        next
    }
    check("step", $1, want[1], 0, 0)
    check("dt_used", $2, want[2], near, 0)
    check("dt_next", $3, want[3], near, 0)
    check("kinetic_energy", $4, want[4], wide ? 1e-10 : 1e-6, 0)
    check("max_div", $5, want[5], wide ? 1e-6 : 0.1, 0)
    check("cycles1", $6, want[6], 0, 0)
    check("cycles2", $7, want[7], 0, 0)
    check("residual1", $8, want[8], wide ? 1e-6 : 0.1, 0)
    check("residual2", $9, want[9], wide ? 1e-6 : 0.1, 0)
    check("launches", $10, want[10], 0, 0)
}

END {
    if (row < rows) {
        printf "only %d of %d lines\n", row, rows
        bad = 1
    }
    exit bad
}
