/*
 * load_values_private.h
 *		The values of the rows that are loaded: read, computed, and put into tuples of a table.
 */
#ifndef GPUSORT_LOAD_VALUES_PRIVATE_H
#define GPUSORT_LOAD_VALUES_PRIVATE_H

#include "access/attnum.h"
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "commands/copy.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "load/load.h"
#include "parse/gs_dialect.h"
#include "parse/gs_parse.h"
#include "table/table.h"

/* ---------- task ---------- */

/*
 * What all participants of a COPY FROM must know.
 *
 * A task has no pointers, so that it can lie in shared memory.
 */

/* The input is cut into chunks of this many bytes; longer records are left to PostgreSQL. */
#define GPUSORT_LOAD_CHUNK_BYTES	((Size) 1024 * 1024)

/* Markers of nulls and defaults that do not fit into this many bytes are left to PostgreSQL. */
#define GPUSORT_LOAD_NULL_BYTES		64

/* A field of each record. */
typedef struct GpuSortLoadField
{
	AttrNumber	attnum;
	bool		force_null;		/* a quoted null marker is a null, too */
	bool		force_not_null; /* a null marker without quotes is not a null */
} GpuSortLoadField;

typedef struct GpuSortLoadTask
{
	Oid			table;
	bool		partitioned;	/* rows go to partitions of the table */
	GpuSortTableOwner owner;
	GpuSortTableBuffers buffers;	/* of each participant */
	bool		indexed;		/* the table or some partition has indexes, so lines are noted */
	int			encoding;		/* of the input */
	Oid			conversion;		/* the function that converts the input, or InvalidOid */
	gs_dialect	dialect;
	int			null_length;
	char		null_print[GPUSORT_LOAD_NULL_BYTES];
	int			default_length; /* 0: there is no marker for defaults */
	char		default_print[GPUSORT_LOAD_NULL_BYTES];
	bool		computing;		/* there are values or conditions to be computed */
	bool		sequences;		/* a default calls nextval(), in the order of the rows */
	Size		bytes;			/* of the whole task */
	Size		where;			/* offset of WHERE's conditions, as a string; 0: none */
	int			nfields;
	GpuSortLoadField fields[FLEXIBLE_ARRAY_MEMBER];
} GpuSortLoadTask;

/* ---------- a value of a row that is being loaded ---------- */

typedef struct GpuSortLoadValue
{
	const char *text;			/* the bytes of a varlena without header; NULL: see datum */
	uint32		length;			/* of text */
	bool		is_null;
	Datum		datum;
} GpuSortLoadValue;

/* ---------- columns ---------- */

/*
 * The columns of a table that is loaded: how fields become values, and how values lie in tuples.
 */

/*
 * Reads the value that the type's input function, or receive function, would make of these bytes.
 * Returns false if their spelling is not one of those that are known here, and the function should
 * be called.  "room" has 16 bytes, for a value that is passed by reference.
 */
typedef bool (*GpuSortScalarReader) (const char *bytes, uint32 length, char *room, Datum *value);

typedef struct GpuSortLoadColumn
{
	GpuSortLoadField field;
	bool		is_text;		/* the field's bytes are the value, no function is called */
	bool		checks_text;	/* ... if they are valid text, which is not known yet */
	uint32		max_bytes;		/* longer fields go to the function even so */
	bool		checks_null;	/* the function is that of a domain, and is called for NULLs, too */
	GpuSortScalarReader reader; /* knows the usual spellings; or NULL */
	FmgrInfo	function;
	Oid			ioparam;
	int32		typmod;
	char	   *room;			/* where the reader puts a value that is passed by reference */
} GpuSortLoadColumn;

/*
 * Returns the reader that can be asked before this receive function, for fields of the binary
 * format, or NULL if there is none.
 */
extern GpuSortScalarReader gpusort_binary_reader(Oid receive_function, int32 typmod);

/* Returns the columns that a task's fields are copied to, allocated in the current context. */
extern GpuSortLoadColumn *gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc);

/* How the values of a column lie in a table's tuples. */
typedef struct GpuSortLoadAttribute
{
	int16		length;
	uint8		align;			/* in bytes */
	bool		by_value;
	bool		may_be_short;	/* a varlena that may have a header of one byte */
} GpuSortLoadAttribute;

/* Returns how the values of each column lie, allocated in the current context. */
extern GpuSortLoadAttribute *gpusort_load_attributes(TupleDesc desc);

/* ---------- what is computed ---------- */

/*
 * What is computed for each row that is loaded: defaults, WHERE, generated columns and constraints.
 *
 * Any participant computes these, from expressions that are known to be safe
 * (load_statement_private.h).  If a constraint refuses a row, or an expression fails, the row is
 * left to PostgreSQL's COPY, which meets the same failure and raises the error.
 */

/* ---------- ... from which expressions, and whether it can be computed here ---------- */

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

/* Returns the expression for a column's default, or for its generated value, or NULL. */
extern Node *gpusort_load_plan_column(Relation table, AttrNumber attnum);

/*
 * Returns the conditions that all rows of a table must fulfill.  Those that virtual generated
 * columns are NOT NULL are among them.
 */
extern List *gpusort_load_list_checks(Relation table);

/* ---------- ... doing it ---------- */

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

/* ---------- the fields of a record ---------- */

/* Fields of records become values here, of one row after the other. */
typedef struct GpuSortLoadFields
{
	const GpuSortLoadTask *task;
	GpuSortLoadColumn *columns;
	GpuSortLoadValue *values;	/* of the current row, by attribute; null where none is copied */
	GpuSortLoadComputer *computer;	/* for defaults that fields ask for; or NULL */
	MemoryContext row_context;	/* where input functions allocate */
	char	   *plain;			/* fields of a row, without their quotes and escapes */
	Size		plain_bytes;
	char	   *plain_end;
	StringInfoData message;		/* a field, for a receive function */
	bool		in_function;	/* an error that is raised now is about a value */
} GpuSortLoadFields;

/*
 * Begins with the columns of a table, in the current memory context.  The caller resets row_context
 * between rows.
 */
extern void gpusort_load_fields_begin(GpuSortLoadFields *fields, const GpuSortLoadTask *task,
									  TupleDesc desc, GpuSortLoadComputer *computer,
									  MemoryContext row_context);

/* To be called before fields of so many bytes of text are read. */
extern void gpusort_load_fields_make_room(GpuSortLoadFields *fields, Size bytes);

/*
 * Reads the fields of a record into values.  Returns false if the record is odd; raises the errors
 * of input functions, with in_function set.
 */
extern bool gpusort_load_read_fields(GpuSortLoadFields *fields, const gs_records *records,
									 const char *data, size_t record);

/* ---------- tuples ---------- */

/*
 * Making a heap tuple of values, with the same bytes as heap_form_tuple().
 */

/* What has to be known of a tuple before there is room for it. */
typedef struct GpuSortTupleSize
{
	bool		has_null;
	uint8		header;			/* bytes, with the null bitmap */
	Size		total;			/* bytes, with the header */
} GpuSortTupleSize;

/* Computes the size of the tuple that gpusort_target_put() makes of these values. */
extern void gpusort_tuple_measure(const GpuSortLoadAttribute *attributes,
								  const GpuSortLoadValue *values, int natts,
								  GpuSortTupleSize *size);

/* ---------- where rows go: a table, or partitions of one ---------- */

/* A table, or a partition, that rows are put into. */
typedef struct GpuSortLoadTarget
{
	int			natts;
	GpuSortLoadAttribute *attributes;
	bool	   *not_null;
	bool		any_not_null;

	GpuSortTableTail *tail;		/* where its tuples go */
} GpuSortLoadTarget;

/* Fills *target for a table whose tuples go to this tail; allocates in the current context. */
extern void gpusort_target_begin(GpuSortLoadTarget *target, GpuSortTableTail *tail);

/* Returns whether a row has a NULL in a column that must not be null. */
extern bool gpusort_target_refuses_null(const GpuSortLoadTarget *target,
										const GpuSortLoadValue *values);

/* Puts a row that is short enough to do without the toaster. */
extern void gpusort_target_put(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
							   const GpuSortTupleSize *size);

/* Puts a row that the toaster has to make shorter.  Returns false if it is still too long. */
extern bool gpusort_target_put_toasted(const GpuSortLoadTarget *target,
									   const GpuSortLoadValue *values,
									   const GpuSortTupleSize *size);

#endif							/* GPUSORT_LOAD_VALUES_PRIVATE_H */
