/* float_ranges.cc - comparisons of floats that ranges decide. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "codegen/module/llvm_gap.h"

using namespace llvm::PatternMatch;

/*
 * `u8(round(clamp(x, 0, 255)))` asks whether the number is from 0 to 255, and
 * whether it is whole. LLVM knows neither of a rounded number. Each check that
 * is left costs as much as the conversion.
 *
 * A range holds what a value is between, NaN aside, and whether it may be one.
 * Ranges are kept in f64, which holds all numbers of f16, bf16, f32 and f64.
 * What is true of a number is true of it in fewer bits only with rounding: so
 * conversions between formats are not followed.
 */

#define DEPTH_MOST 8u

namespace
{

struct range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool is_whole = false;
    bool may_be_nan = true;
};

} // namespace

static range range_of(const llvm::Value *value, unsigned depth);

/* ---- ranges ---- */

static range range_of_constant(const llvm::APFloat &number)
{
    llvm::APFloat wide = number;
    range out;
    bool loses;

    if (number.isNaN())
        return {};
    wide.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
    if (loses)
        return {};
    out.low = out.high = wide.convertToDouble();
    out.is_whole = number.isInteger();
    out.may_be_nan = false;
    return out;
}

/* Of an integer: a power of two is in all formats, unless it is too large. */
static range range_of_integer(const llvm::CastInst &at)
{
    const int bits = static_cast<int>(at.getSrcTy()->getScalarSizeInBits());
    const llvm::fltSemantics &format =
        at.getType()->getScalarType()->getFltSemantics();
    const bool is_signed = llvm::isa<llvm::SIToFPInst>(at);
    const double power = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    range out;

    out.is_whole = true;
    out.may_be_nan = false;
    if (bits > 64 || bits > llvm::APFloat::semanticsMaxExponent(format))
        return out;
    out.low = is_signed ? -power : 0;
    out.high =
        bits <= static_cast<int>(llvm::APFloat::semanticsPrecision(format))
            ? power - 1
            : power;
    return out;
}

/* What the operand is where the comparison with the number holds. */
static range narrowed(range of, llvm::CmpInst::Predicate predicate,
                      double number)
{
    switch (predicate) {
    case llvm::CmpInst::FCMP_OLT:
    case llvm::CmpInst::FCMP_OLE:
        of.may_be_nan = false;
        [[fallthrough]];
    case llvm::CmpInst::FCMP_ULT:
    case llvm::CmpInst::FCMP_ULE:
        of.high = std::min(of.high, number);
        break;
    case llvm::CmpInst::FCMP_OGT:
    case llvm::CmpInst::FCMP_OGE:
        of.may_be_nan = false;
        [[fallthrough]];
    case llvm::CmpInst::FCMP_UGT:
    case llvm::CmpInst::FCMP_UGE:
        of.low = std::max(of.low, number);
        break;
    case llvm::CmpInst::FCMP_ORD:
        of.may_be_nan = false;
        break;
    default:
        break;
    }
    return of;
}

static range either(const range &a, const range &b)
{
    range out;

    out.low = std::min(a.low, b.low);
    out.high = std::max(a.high, b.high);
    out.is_whole = a.is_whole && b.is_whole;
    out.may_be_nan = a.may_be_nan || b.may_be_nan;
    return out;
}

/* Of what is chosen by a comparison of one of both with a number. */
static range range_of_choice(const llvm::SelectInst &at, unsigned depth)
{
    range chosen = range_of(at.getTrueValue(), depth + 1);
    range other = range_of(at.getFalseValue(), depth + 1);
    const auto *compare = llvm::dyn_cast<llvm::FCmpInst>(at.getCondition());
    const llvm::APFloat *number;

    if (compare != nullptr &&
        match(compare->getOperand(1), m_APFloat(number)) && !number->isNaN()) {
        const range limit = range_of_constant(*number);

        if (at.getTrueValue() == compare->getOperand(0))
            chosen = narrowed(chosen, compare->getPredicate(), limit.low);
        if (at.getFalseValue() == compare->getOperand(0))
            other = narrowed(other, compare->getInversePredicate(), limit.low);
    }
    return either(chosen, other);
}

/* Of a minimum or a maximum, which is the other number for a NaN. */
static range range_of_extreme(const llvm::IntrinsicInst &at, bool is_maximum,
                              unsigned depth)
{
    const range a = range_of(at.getArgOperand(0), depth + 1);
    const range b = range_of(at.getArgOperand(1), depth + 1);
    range out = either(a, b);

    if (is_maximum) {
        out.low = std::max(a.low, b.low);
        out.low = a.may_be_nan ? std::min(out.low, b.low) : out.low;
        out.low = b.may_be_nan ? std::min(out.low, a.low) : out.low;
    } else {
        out.high = std::min(a.high, b.high);
        out.high = a.may_be_nan ? std::max(out.high, b.high) : out.high;
        out.high = b.may_be_nan ? std::max(out.high, a.high) : out.high;
    }
    out.may_be_nan = a.may_be_nan && b.may_be_nan;
    return out;
}

static range range_of_call(const llvm::IntrinsicInst &at, unsigned depth)
{
    range out;

    switch (at.getIntrinsicID()) {
    case llvm::Intrinsic::maxnum:
        return range_of_extreme(at, true, depth);
    case llvm::Intrinsic::minnum:
        return range_of_extreme(at, false, depth);
    case llvm::Intrinsic::fabs:
        out = range_of(at.getArgOperand(0), depth + 1);
        out.high = std::max(std::abs(out.low), std::abs(out.high));
        out.low = 0;
        return out;
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::round:
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::trunc:
        out = range_of(at.getArgOperand(0), depth + 1);
        out.low = std::floor(out.low);
        out.high = std::ceil(out.high);
        out.is_whole = true;
        return out;
    default:
        return out;
    }
}

static range range_of(const llvm::Value *value, unsigned depth)
{
    const llvm::APFloat *number;

    if (match(value, m_APFloat(number)))
        return range_of_constant(*number);
    if (depth >= DEPTH_MOST)
        return {};
    if (llvm::isa<llvm::UIToFPInst>(value) ||
        llvm::isa<llvm::SIToFPInst>(value))
        return range_of_integer(llvm::cast<llvm::CastInst>(*value));
    if (const auto *choice = llvm::dyn_cast<llvm::SelectInst>(value))
        return range_of_choice(*choice, depth);
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value))
        return range_of_call(*call, depth);
    return {};
}

/* ---- comparisons ---- */

/* How a number is to another one; a predicate has these bits for where it
   holds. */
enum order : unsigned {
    equal = llvm::CmpInst::FCMP_OEQ,
    greater = llvm::CmpInst::FCMP_OGT,
    less = llvm::CmpInst::FCMP_OLT,
    unordered = llvm::CmpInst::FCMP_UNO
};

static bool holds(llvm::CmpInst::Predicate predicate, order is)
{
    return (static_cast<unsigned>(predicate) & is) != 0;
}

/* A comparison with a number. */
static std::optional<bool> answer_of(llvm::CmpInst::Predicate predicate,
                                     const range &of, double number)
{
    bool any = false, all = true;
    const auto add = [&](bool is_possible, order is) {
        if (!is_possible)
            return;
        any |= holds(predicate, is);
        all &= holds(predicate, is);
    };

    add(of.low < number, less);
    add(of.low <= number && number <= of.high, equal);
    add(of.high > number, greater);
    add(of.may_be_nan, unordered);
    return any == all ? std::optional<bool>(any) : std::nullopt;
}

/* True for the number that results if one is converted to an integer and back:
   where it is whole, it is the same, if it fits at all. */
static bool is_there_and_back(const llvm::Value *value,
                              const llvm::Value *number)
{
    const auto *back = llvm::dyn_cast<llvm::CastInst>(value);
    const auto *there =
        back != nullptr ? llvm::dyn_cast<llvm::CastInst>(back->getOperand(0))
                        : nullptr;

    return there != nullptr && there->getOperand(0) == number &&
           ((llvm::isa<llvm::UIToFPInst>(back) &&
             llvm::isa<llvm::FPToUIInst>(there)) ||
            (llvm::isa<llvm::SIToFPInst>(back) &&
             llvm::isa<llvm::FPToSIInst>(there)));
}

static std::optional<bool> answer_of(const llvm::FCmpInst &at)
{
    const llvm::Value *a = at.getOperand(0), *b = at.getOperand(1);
    const llvm::APFloat *number;

    if (match(b, m_APFloat(number)) && !number->isNaN()) {
        const range limit = range_of_constant(*number);

        return limit.may_be_nan
                   ? std::nullopt
                   : answer_of(at.getPredicate(), range_of(a, 0), limit.low);
    }
    if ((is_there_and_back(b, a) && range_of(a, 0).is_whole) ||
        (is_there_and_back(a, b) && range_of(b, 0).is_whole))
        return holds(at.getPredicate(), equal);
    return std::nullopt;
}

int kiln__llvm_decide_floats(LLVMModuleRef module)
{
    bool any = false;

    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::Instruction &at : llvm::instructions(function)) {
            auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&at);

            if (compare == nullptr || compare->getType()->isVectorTy() ||
                compare->use_empty())
                continue;
            if (const std::optional<bool> answer = answer_of(*compare)) {
                compare->replaceAllUsesWith(
                    llvm::ConstantInt::getBool(compare->getContext(), *answer));
                any = true;
            }
        }
    return any;
}
