# skip.sh - sourced by scripts that test: ends them as skipped, and says why.

# skip KIND WHY...: as test_skip() of tests/support/harness.h does; the kinds
# are explained there.
skip()
{
    kind=$1
    shift
    line="$kind: $(basename "$0" .sh), all of it: $*"
    echo "skipped for want of a $line"
    test -z "${TEST_SKIPS:-}" || echo "$line" >>"$TEST_SKIPS"
    exit 77
}
