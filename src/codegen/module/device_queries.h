/* device_queries.h - device functions that only ask where an item is. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_DEVICE_QUERIES_H
#define KILN_CODEGEN_MODULE_DEVICE_QUERIES_H

#include "ir/ir.h"

/*
 * Calls of these functions have no effect, and give an item the same answer as
 * often as it asks. So they may be repeated. The columns are
 *
 *   name     as modules call the function
 *   form     of its type; foreign_device.c explains it
 *   number   KILN__QUERY_...; 0: the answer is made of others
 *   answer   which function of foreign_device.c builds it: bind_<answer>()
 *   differs  1: items of one group may get different answers
 */
#define KILN__DEVICE_QUERIES(F) \
    F("kiln_global_id", "l:i", KILN__QUERY_GLOBAL_ID, query, 1) \
    F("kiln_local_id", "l:i", KILN__QUERY_LOCAL_ID, query, 1) \
    F("kiln_group_id", "l:i", KILN__QUERY_GROUP_ID, query, 0) \
    F("kiln_global_size", "l:i", KILN__QUERY_GLOBAL_SIZE, query, 0) \
    F("kiln_local_size", "l:i", KILN__QUERY_LOCAL_SIZE, query, 0) \
    F("kiln_group_count", "l:i", KILN__QUERY_GROUP_COUNT, query, 0) \
    F("kiln_sub_group_size", "i:", KILN__QUERY_SUB_GROUP_SIZE, lane, 0) \
    F("kiln_sub_group_id", "i:", KILN__QUERY_SUB_GROUP_ID, lane, 1) \
    F("kiln_lane_id", "i:", KILN__QUERY_LANE_ID, lane, 1) \
    F("kiln_sub_group_count", "i:", 0, sub_group_count, 0) \
    F("kiln_group_memory", "s:", 0, local_memory, 0) \
    F("kiln_group_memory_size", "l:", 0, local_size, 0)

#endif /* KILN_CODEGEN_MODULE_DEVICE_QUERIES_H */
