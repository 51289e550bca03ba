/*
 * load_computed.h
 *		What is computed for each row that is loaded: defaults, WHERE, generated columns and
 *		constraints.
 *
 * Any participant computes these, from expressions that are known to be safe (load_safe.h).  If a
 * constraint refuses a row, or an expression fails, the row is left to PostgreSQL's COPY, which
 * meets the same failure and raises the error.
 */
#ifndef GPUSORT_LOAD_COMPUTED_H
#define GPUSORT_LOAD_COMPUTED_H

#include "commands/copy.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "load/load_task.h"
#include "load/load_value.h"

/* ---------- whether it can be computed here ---------- */

/* What a load has to compute. */
typedef struct GpuSortLoadComputing
{
	bool		anything;
	bool		sequences;		/* a default calls nextval(), in the order of the rows */
} GpuSortLoadComputing;

/*
 * Returns why something that the rows need can't be computed here, or NULL if all of it can.
 * "attnums" are the columns that are copied; with "marker", their fields may ask for the defaults
 * of these columns, too.  Notes in *computing what has to be computed.
 */
extern const char *gpusort_load_why_not_computed(Relation table, List *attnums, bool marker,
												 GpuSortLoadComputing *computing);

/*
 * Does the same for what is computed for rows that were routed to this partition, which are its
 * generated columns and constraints.
 */
extern const char *gpusort_load_why_not_stored(Relation table, GpuSortLoadComputing *computing);

/* ---------- doing it ---------- */

typedef struct GpuSortLoadComputer GpuSortLoadComputer;

/*
 * What is computed together.  Rows of a partitioned table are routed in between:
 * GPUSORT_COMPUTE_ROUTED is computed before, from the columns of the table that was named, and
 * GPUSORT_COMPUTE_STORED after it, from those of the partition.
 */
typedef enum GpuSortComputes
{
	GPUSORT_COMPUTE_ALL,
	GPUSORT_COMPUTE_ROUTED,		/* defaults, WHERE */
	GPUSORT_COMPUTE_STORED		/* generated columns, constraints */
} GpuSortComputes;

/*
 * Returns what computes this for the rows of a table, allocated in the current context, or NULL if
 * there is nothing to compute.
 */
extern GpuSortLoadComputer *gpusort_computer_begin(const GpuSortLoadTask *task, Relation table,
												   GpuSortComputes what);

/*
 * Returns the context that the values of a row are allocated in.  The caller resets it between
 * rows.
 */
extern MemoryContext gpusort_computer_row_context(GpuSortLoadComputer *computer);

/*
 * Computes the default of a column that is copied, whose field has asked for it.  "attribute" is
 * counted from 0.  Returns false if the column has no default.
 */
extern bool gpusort_compute_default(GpuSortLoadComputer *computer, int attribute,
									GpuSortLoadValue *value);

typedef enum GpuSortComputed
{
	GPUSORT_COMPUTED,
	GPUSORT_COMPUTED_EXCLUDED,	/* WHERE leaves the row out */
	GPUSORT_COMPUTED_REFUSED	/* a constraint refuses the row */
} GpuSortComputed;

/*
 * Computes all values of a row that are not copied, from those that are.  Raises the errors of
 * expressions.
 */
extern GpuSortComputed gpusort_compute_row(GpuSortLoadComputer *computer, GpuSortLoadValue *values);

/*
 * Notes that the current row is where it belongs, so that the values of sequences in it are used.
 */
extern void gpusort_computer_finish_row(GpuSortLoadComputer *computer);

/*
 * Called for a row that is left to PostgreSQL's COPY.  If values of sequences were taken for it,
 * puts these values into the defaults of "copy", so that no sequence is asked twice.  The row then
 * fails there as it did here.
 */
extern void gpusort_computer_hand_over(const GpuSortLoadComputer *computer, CopyFromState copy);

/* Lets go of what an expression has held that raised an error, after that error was caught. */
extern void gpusort_computer_recover(GpuSortLoadComputer *computer);

extern void gpusort_computer_end(GpuSortLoadComputer *computer);

#endif							/* GPUSORT_LOAD_COMPUTED_H */
