/*
 * ops_cases.h
 *		The operations that ops_test.c runs on both devices, by file.
 */
#ifndef OPS_CASES_H
#define OPS_CASES_H

#include "ops_side.h"

/* The reference and the tested device. */
extern side *ops_sides(void);
extern uint64_t random_below(uint64_t limit);

/* ops_planes.c: from planes to keys */
extern void test_stats(bool small);
extern void test_pack(bool small);

/* ops_partition.c: from keys to bins */
extern void test_histogram(bool small);
extern void test_scatter(bool small);

/* ops_order.c: sorted rows */
extern void test_sort(bool small);
extern void test_sort_runs(bool small);
extern void test_ties(bool small);
extern void test_check(bool small);
extern void test_sums(bool small);

/* ops_rows.c: stored rows */
extern void test_rows(bool small);

/* ops_text.c: delimited text */
extern void test_text(bool small);

#endif							/* OPS_CASES_H */
