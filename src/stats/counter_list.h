/*
 * counter_list.h
 *		What is counted of a sort: the list that fields, columns and lines of EXPLAIN are made of.
 *
 * It is included where COUNTER(unit, name, merge, kept, explained) is defined, which makes
 * something of each line; so there is no include guard.  See counters.h for what is made of it.
 *
 * unit: NUMBER, FLAG (0 or 1), BYTES or TIME.
 *
 * name: the field of GpuSortStats.
 *
 * merge: whether a participant that collects rows, or reads rows back, has its counter ADDED to
 * that of the process that performs the sort, or the counter is OWN, and that process alone counts.
 *
 * kept: KEPT(column of gpusort_sorts_of()) if statistics keep the counter, NOT_KEPT otherwise.
 * Columns are in the order of the list, and each has a place in the server's statistics file.  So a
 * new column of a number goes behind the last one of a number, and that of a time to the end.
 *
 * explained: NOT_EXPLAINED, or EXPLAINED(line, engine, zero, text, property) for EXPLAIN ANALYZE.
 * The counter stands in that line, in the order of the list.  engine: whether it is shown of any
 * engine's sort (ANY), only of the host's (HOST), or of gpusortd's (DEVICES).  zero: whether 0 is
 * shown always (SHOWN), in all formats but text (NOT_IN_TEXT), or never (HIDDEN).  In the text, %s
 * stands for the value, in kB or ms; a flag has none.  property: its name in other formats.  Times
 * are shown if EXPLAIN shows timing.
 */

/* the sort as a whole */
COUNTER(NUMBER, sorts, OWN, KEPT("sorts"), NOT_EXPLAINED)
COUNTER(NUMBER, rows, OWN, KEPT("rows"), NOT_EXPLAINED)	/* that were put */
COUNTER(BYTES, bytes, OWN, KEPT("bytes"), NOT_EXPLAINED)	/* of memory, private and the pool's */
COUNTER(BYTES, memory_bytes, OWN, NOT_KEPT,	/* private, of rows, planes and workspace */
		EXPLAINED(MEMORY, ANY, SHOWN, "  Memory: %skB", "Sort Space Used"))
COUNTER(BYTES, pool_bytes, OWN, NOT_KEPT,	/* extents of the pool */
		EXPLAINED(POOL, ANY, NOT_IN_TEXT, "  Pool: %skB", "Pool Space Used"))
COUNTER(FLAG, parallel, OWN, KEPT("parallel"), NOT_EXPLAINED)	/* several processes have collected */
COUNTER(FLAG, bounded, OWN, KEPT("bounded"), NOT_EXPLAINED)	/* rows were trimmed to a bound */

/* what has sorted */
COUNTER(FLAG, by_host, OWN, KEPT("host"), NOT_EXPLAINED)
COUNTER(FLAG, by_cuda, OWN, KEPT("cuda"), NOT_EXPLAINED)
COUNTER(FLAG, by_simulation, OWN, KEPT("simulated"), NOT_EXPLAINED)
COUNTER(NUMBER, devices, OWN, KEPT("devices"),	/* of gpusortd, that took part */
		EXPLAINED(ENGINE, DEVICES, SHOWN, "  Devices: %s", "Devices"))
COUNTER(NUMBER, processes, OWN, NOT_KEPT,	/* that ran the host engine; 0: this one alone */
		EXPLAINED(ENGINE, HOST, HIDDEN, "  Processes: %s", "Processes"))
COUNTER(NUMBER, key_bits, OWN, NOT_KEPT,	/* significant bits of the engine's key */
		EXPLAINED(ENGINE, ANY, SHOWN, "  Key: %s bits", "Key Bits"))
COUNTER(NUMBER, passes, OWN, NOT_KEPT,	/* of the host engine, over all rows */
		EXPLAINED(ENGINE, HOST, SHOWN, "  Passes: %s", "Partition Passes"))
COUNTER(NUMBER, rounds, OWN, NOT_KEPT,	/* of gpusortd */
		EXPLAINED(ENGINE, DEVICES, SHOWN, "  Rounds: %s", "Rounds"))
/* rows ordered by more than the first words of strings, or by more than one engine item */
COUNTER(NUMBER, refined_rows, ADDED, NOT_KEPT,
		EXPLAINED(ENGINE, ANY, SHOWN, "  Refined Rows: %s", "Refined Rows"))
COUNTER(NUMBER, team_runs, OWN, NOT_KEPT,	/* of rows that tie, sorted by a team */
		EXPLAINED(ENGINE, HOST, HIDDEN, "  Shared Runs: %s", "Shared Runs"))
COUNTER(NUMBER, reordered_rows, OWN, NOT_KEPT,	/* returned from the copy that gpusortd ordered */
		EXPLAINED(REORDERED, DEVICES, NOT_IN_TEXT, "  Reordered Rows: %s", "Reordered Rows"))
COUNTER(FLAG, presorted, OWN, NOT_KEPT,
		EXPLAINED(VERIFIED, ANY, NOT_IN_TEXT, "  Presorted", "Presorted"))
COUNTER(FLAG, verified, ADDED, NOT_KEPT,
		EXPLAINED(VERIFIED, ANY, NOT_IN_TEXT, "  Verified", "Verified"))
COUNTER(NUMBER, repaired_rows, ADDED, NOT_KEPT,	/* that the verification has put in their places */
		EXPLAINED(VERIFIED, ANY, HIDDEN, "  Repaired Rows: %s", "Repaired Rows"))
COUNTER(FLAG, of_keys, OWN, NOT_KEPT, NOT_EXPLAINED)	/* rows were made of their keys */

/* sorts that were handed over to tuplesort or given up, or not done by gpusortd, and why */
COUNTER(FLAG, handed_over_memory, OWN, KEPT("handed_over_memory"), NOT_EXPLAINED)
COUNTER(FLAG, handed_over_value, OWN, KEPT("handed_over_value"), NOT_EXPLAINED)
COUNTER(FLAG, handed_over_order, OWN, KEPT("handed_over_order"), NOT_EXPLAINED)
COUNTER(NUMBER, handover_rows, OWN, NOT_KEPT,	/* put before the handover */
		EXPLAINED(HANDOVER, ANY, SHOWN, " after %s rows", "Rows Before Handover"))
COUNTER(FLAG, fallback_down, OWN, KEPT("fallbacks_down"), NOT_EXPLAINED)
COUNTER(FLAG, fallback_busy, OWN, KEPT("fallbacks_busy"), NOT_EXPLAINED)
COUNTER(FLAG, fallback_memory, OWN, KEPT("fallbacks_memory"), NOT_EXPLAINED)
COUNTER(FLAG, fallback_failed, OWN, KEPT("fallbacks_failed"), NOT_EXPLAINED)

/* rows of several processes, a bound, and temporary files */
COUNTER(NUMBER, joined_rows, OWN, NOT_KEPT, NOT_EXPLAINED)	/* collected in parts (sort_parts.h) */
COUNTER(FLAG, joined_runs, OWN, NOT_KEPT, NOT_EXPLAINED)	/* there are runs that parts wrote */
COUNTER(NUMBER, bound, OWN, NOT_KEPT,	/* how many rows were wanted at most; 0: all */
		EXPLAINED(BOUND, ANY, SHOWN, "Bound: %s", "Bound"))
COUNTER(NUMBER, trims, ADDED, NOT_KEPT,	/* how often the rows were trimmed to the bound */
		EXPLAINED(BOUND, ANY, SHOWN, "  Trims: %s", "Trims"))
COUNTER(NUMBER, dropped_rows, ADDED, NOT_KEPT,	/* put but not kept, because of the bound */
		EXPLAINED(BOUND, ANY, SHOWN, "  Dropped Rows: %s", "Dropped Rows"))
COUNTER(FLAG, lacked_pool, OWN, KEPT("short"), NOT_EXPLAINED)	/* others kept it from more of it */
COUNTER(FLAG, spilled, OWN, KEPT("spilled"), NOT_EXPLAINED)	/* there are runs */
COUNTER(BYTES, spilled_bytes, ADDED, KEPT("spilled_bytes"),	/* written to temporary files */
		EXPLAINED(SPILL, ANY, SHOWN, "Spilled: %skB", "Spilled"))
COUNTER(BYTES, kept_bytes, ADDED, NOT_KEPT,	/* of runs that stayed in memory */
		EXPLAINED(SPILL, ANY, NOT_IN_TEXT, "  Kept: %skB", "Kept"))
COUNTER(NUMBER, runs, ADDED, KEPT("runs"),	/* written, to temporary files or kept in memory */
		EXPLAINED(SPILL, ANY, SHOWN, "  Runs: %s", "Runs"))
COUNTER(NUMBER, portions, OWN, NOT_KEPT,	/* in which the rows of runs were read back */
		EXPLAINED(SPILL, ANY, SHOWN, "  Portions: %s", "Portions"))
COUNTER(NUMBER, worker_portions, OWN, NOT_KEPT,	/* those of them that workers have loaded */
		EXPLAINED(SPILL, ANY, NOT_IN_TEXT, " (%s by workers)", "Portions Of Workers"))
COUNTER(NUMBER, merged_runs, OWN, NOT_KEPT,	/* made of other runs, because there were too many */
		EXPLAINED(SPILL, ANY, NOT_IN_TEXT, "  Merged Runs: %s", "Merged Runs"))

COUNTER(FLAG, waited, OWN, KEPT("waited"), NOT_EXPLAINED)	/* for gpusortd */

/* times */
COUNTER(TIME, total_time, OWN, KEPT("total_time"), NOT_EXPLAINED)
COUNTER(TIME, collect_time, OWN, KEPT("collect_time"),	/* as gpusort_note_sort() was told */
		EXPLAINED(PHASES, ANY, SHOWN, " collect %s ms", "Collect Time"))
COUNTER(TIME, sort_time, OWN, KEPT("sort_time"),	/* the engine */
		EXPLAINED(PHASES, ANY, SHOWN, ", sort %s ms", "Sort Time"))
COUNTER(TIME, refine_time, OWN, KEPT("refine_time"),	/* ordering rows that tie on key prefixes */
		EXPLAINED(PHASES, ANY, SHOWN, ", refine %s ms", "Refine Time"))
COUNTER(TIME, verify_time, OWN, KEPT("verify_time"),
		EXPLAINED(PHASES, ANY, SHOWN, ", verify %s ms", "Verify Time"))
COUNTER(TIME, write_time, OWN, KEPT("write_time"),
		EXPLAINED(SPILL, ANY, SHOWN, "  Write: %s ms", "Run Write Time"))
COUNTER(TIME, read_time, OWN, KEPT("read_time"),	/* reading rows back, and putting them */
		EXPLAINED(SPILL, ANY, SHOWN, "  Read: %s ms", "Run Read Time"))
COUNTER(TIME, load_time, OWN, KEPT("load_time"), NOT_EXPLAINED)	/* writing pages of indexes */
COUNTER(TIME, wait_time, OWN, KEPT("wait_time"), NOT_EXPLAINED)	/* for gpusortd; part of others */
COUNTER(TIME, join_time, OWN, NOT_KEPT, NOT_EXPLAINED)	/* joining the parts */
COUNTER(TIME, perform_time, OWN, NOT_KEPT, NOT_EXPLAINED)	/* all of gpusort_perform() */

#undef COUNTER
