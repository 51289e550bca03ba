/*
 * load_computed.h
 *		What is computed for each row that is loaded: defaults, WHERE, generated columns, CHECK constraints.
 *
 * By any participant, from expressions that are known to be safe (load_safe.h).  A value of which a constraint
 * has to say something, or whose computing fails, is a matter for PostgreSQL's COPY, which raises the error.
 */
#ifndef GPUSORT_LOAD_COMPUTED_H
#define GPUSORT_LOAD_COMPUTED_H

#include "commands/copy.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "load/load_task.h"
#include "load/load_value.h"

/* ---------- whether ---------- */

/* What would have to be computed. */
typedef struct GpuSortLoadComputing
{
	bool		anything;
	bool		sequences;		/* in the order of the rows */
} GpuSortLoadComputing;

/*
 * Why not all that is needed can be computed here, or NULL: it can.  With "marker", fields may ask for the defaults of
 * their columns.
 */
extern const char *gpusort_load_why_not_computed(Relation table, List *attnums, bool marker, GpuSortLoadComputing *computing);

/* ... of what is computed of rows that were routed to a partition. */
extern const char *gpusort_load_why_not_stored(Relation table, GpuSortLoadComputing *computing);

/* ---------- doing it ---------- */

typedef struct GpuSortLoadComputer GpuSortLoadComputer;

/* Rows are routed between the first two and the others, which are those of a partition then. */
typedef enum GpuSortComputes
{
	GPUSORT_COMPUTE_ALL,
	GPUSORT_COMPUTE_ROUTED,		/* defaults, WHERE */
	GPUSORT_COMPUTE_STORED		/* generated columns, constraints */
} GpuSortComputes;

/* In the current context; NULL: there is nothing to compute. */
extern GpuSortLoadComputer *gpusort_computer_begin(const GpuSortLoadTask *task, Relation table, GpuSortComputes what);

/* Where values of a row are allocated, until the context is reset. */
extern MemoryContext gpusort_computer_row_context(GpuSortLoadComputer *computer);

/* The default of a column that is copied; false: it has none. */
extern bool gpusort_compute_default(GpuSortLoadComputer *computer, int attribute, GpuSortLoadValue *value);

typedef enum GpuSortComputed
{
	GPUSORT_COMPUTED,
	GPUSORT_COMPUTED_EXCLUDED,	/* by WHERE */
	GPUSORT_COMPUTED_REFUSED	/* by a constraint */
} GpuSortComputed;

/* All that is not copied, from what is; errors are thrown. */
extern GpuSortComputed gpusort_compute_row(GpuSortLoadComputer *computer, GpuSortLoadValue *values);

/* The row is where it belongs. */
extern void gpusort_computer_finish_row(GpuSortLoadComputer *computer);

/*
 * A row is left to PostgreSQL's COPY: let it use the sequences' values that were taken for it, if they were.  It fails at
 * this row then.
 */
extern void gpusort_computer_hand_over(const GpuSortLoadComputer *computer, CopyFromState copy);

/* What was thrown was caught: let go of what the expression has held. */
extern void gpusort_computer_recover(GpuSortLoadComputer *computer);

extern void gpusort_computer_end(GpuSortLoadComputer *computer);

#endif							/* GPUSORT_LOAD_COMPUTED_H */
