/*
 * load_rows.c
 *		Turning records into tuples in private pages; see load_rows_private.h.
 *
 * A row is put into a page when all of its values are known to be good.  So wherever reading ends,
 * the pages have exactly the rows of the records before.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "load/load_input_private.h"
#include "load/load_partitions_private.h"
#include "load/load_rows_private.h"
#include "load/load_values_private.h"
#include "parse/gs_parse.h"
#include "pg_compat/tables.h"

/* At most this many records are found at a time. */
#define BATCH_RECORDS	512

/*
 * At most this many fields are found at a time, or four times the number of columns if that is
 * more.
 */
#define BATCH_FIELDS	8192

struct GpuSortLoader
{
	const GpuSortLoadTask *task;
	GpuSortTableSink *sink;		/* where rows go */
	GpuSortLoadTarget table;	/* what they go to if the table is not partitioned */
	GpuSortLoadPartitions *partitions;	/* what they go to if it is */
	GpuSortLoadPartition *partition;	/* the one that the current row goes to */
	GpuSortLoadFields fields;	/* those of the current row become values here */
	GpuSortLoadComputer *computer;	/* for what is not copied; or NULL */
	GpuSortLoadEncoding *encoding;
	MemoryContext row_context;	/* where input functions and expressions allocate */

	gs_records	records;		/* the current batch */
	bool		unproven;		/* the records were found by a device, and are not proven */
	gs_check	check;			/* proves the records of a device */
	Size		batch_begin;	/* where the batch begins in the input */
	size_t		record;			/* the number of the record in the batch that is being read */
	size_t		excluded;		/* records of the batch so far that WHERE has left out */
	GpuSortLoadLines lines;		/* of the records that were read, if the table is indexed */
	Size		valid_bytes;	/* bytes of the input, from its start, that are valid text */
	bool		may_toast;
	bool		decoded_toast;
};

/* ---------- beginning ---------- */

static void
make_records(gs_records *records, int nfields)
{
	records->max_fields = Max(BATCH_FIELDS, 4 * nfields) + GS_RECORDS_SLACK;
	records->max_records = BATCH_RECORDS + GS_RECORDS_SLACK;
	records->field_ends = palloc(records->max_fields * sizeof(uint32_t));
	records->record_fields = palloc(records->max_records * sizeof(uint32_t));
}

/*
 * The toaster inserts what it puts out of line with the options that the server's COPY uses for the
 * table that was named.
 */
static void
begin_sink(GpuSortLoader *loader, Relation table, GpuSortLoadParts *parts)
{
	const GpuSortLoadTask *task = loader->task;

	if (task->partitioned)
	{
		loader->sink = gpusort_table_sink_several(&task->owner, &task->buffers);
		loader->partitions = gpusort_load_partitions_begin(task, table, parts, loader->sink);
		return;
	}
	loader->sink =
		gpusort_table_sink_append(table, &task->owner, &task->buffers,
								  gpusort_relation_is_new(table) ? HEAP_INSERT_SKIP_FSM : 0);
	gpusort_target_begin(&loader->table, gpusort_table_sink_tail(loader->sink));
}

GpuSortLoader *
gpusort_loader_begin(const GpuSortLoadTask *task, Relation table, GpuSortLoadParts *parts)
{
	GpuSortLoader *loader = palloc0(sizeof(GpuSortLoader));

	loader->task = task;
	begin_sink(loader, table, parts);
	loader->encoding = gpusort_encoding_begin(task);
	loader->lines.context = loader->lines.order.context = CurrentMemoryContext;
	loader->computer = gpusort_computer_begin(task, table,
											  task->partitioned ? GPUSORT_COMPUTE_ROUTED
											  : GPUSORT_COMPUTE_ALL);
	loader->row_context = loader->computer != NULL ? gpusort_computer_row_context(loader->computer)
		: AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY row", ALLOCSET_DEFAULT_SIZES);
	make_records(&loader->records, task->nfields);
	gpusort_load_fields_begin(&loader->fields, task, RelationGetDescr(table), loader->computer,
							  loader->row_context);
	gs_check_begin(&loader->check, &task->dialect);
	return loader;
}

GpuSortTableSink *
gpusort_loader_sink(GpuSortLoader *loader)
{
	return loader->sink;
}

const GpuSortLoadLines *
gpusort_loader_lines(const GpuSortLoader *loader)
{
	return &loader->lines;
}

void
gpusort_loader_share_order(GpuSortLoader *loader, dsa_area *area)
{
	loader->lines.order.area = area;
}

void
gpusort_loader_hand_over(GpuSortLoader *loader, CopyFromState copy)
{
	if (loader->computer != NULL)
		gpusort_computer_hand_over(loader->computer, copy);
}

void
gpusort_loader_end(GpuSortLoader *loader)
{
	if (loader->partitions != NULL)
		gpusort_load_partitions_end(loader->partitions);
	gpusort_table_sink_end(loader->sink);
	gpusort_encoding_end(loader->encoding);
	gpusort_lines_clear(&loader->lines);
	if (loader->computer != NULL)
		gpusort_computer_end(loader->computer);
	else
		MemoryContextDelete(loader->row_context);
}

/* ---------- a row ---------- */

static GpuSortLoadStop
put_row(GpuSortLoader *loader, const GpuSortLoadTarget *target, const GpuSortLoadValue *values)
{
	GpuSortTupleSize size;
	bool		fits;

	if (gpusort_target_refuses_null(target, values))
		return GPUSORT_LOAD_ODD;
	gpusort_tuple_measure(target->attributes, values, target->natts, &size);
	if (likely(size.total <= TOAST_TUPLE_THRESHOLD))
	{
		gpusort_target_put(target, values, &size);
		return GPUSORT_LOAD_END;
	}
	if (!loader->may_toast)
		return GPUSORT_LOAD_TOAST;
	fits = gpusort_target_put_toasted(target, values, &size);
	loader->decoded_toast |= RelationIsLogicallyLogged(target->tail->heap);
	return fits ? GPUSORT_LOAD_END : GPUSORT_LOAD_ODD;
}

static GpuSortComputed
compute_row(GpuSortLoader *loader, GpuSortLoadComputer *computer, GpuSortLoadValue *values)
{
	GpuSortComputed computed = GPUSORT_COMPUTED;

	if (computer == NULL)
		return computed;
	loader->fields.in_function = true;
	computed = gpusort_compute_row(computer, values);
	loader->fields.in_function = false;
	return computed;
}

/* Puts a row into its partition. */
static GpuSortLoadStop
route_row(GpuSortLoader *loader)
{
	GpuSortLoadPartition *partition;
	GpuSortLoadValue *values;
	GpuSortLoadStop stop;

	loader->fields.in_function = true;
	loader->partition = partition =
		gpusort_load_partitions_find(loader->partitions, loader->fields.values);
	loader->fields.in_function = false;
	if (partition == NULL)
		return GPUSORT_LOAD_ODD;
	values = gpusort_partition_values(partition, loader->fields.values);
	if (partition->computer != NULL)
		MemoryContextReset(gpusort_computer_row_context(partition->computer));
	if (compute_row(loader, partition->computer, values) == GPUSORT_COMPUTED_REFUSED)
		return GPUSORT_LOAD_ODD;
	stop = put_row(loader, &partition->target, values);
	if (stop == GPUSORT_LOAD_END && loader->task->indexed)
		gpusort_order_add(&loader->lines.order, partition->leaf);
	return stop;
}

/*
 * Computes what is not copied, when all fields of a record have been read, and puts the row where
 * it belongs.
 */
static GpuSortLoadStop
finish_row(GpuSortLoader *loader)
{
	GpuSortComputed computed = compute_row(loader, loader->computer, loader->fields.values);

	if (computed == GPUSORT_COMPUTED_EXCLUDED)
	{
		loader->excluded++;
		gpusort_lines_leave_out(&loader->lines, loader->record);
		return GPUSORT_LOAD_END;
	}
	if (computed == GPUSORT_COMPUTED_REFUSED)
		return GPUSORT_LOAD_ODD;
	return loader->partitions != NULL ? route_row(loader)
		: put_row(loader, &loader->table, loader->fields.values);
}

/* Makes a row of the current record of the batch. */
static GpuSortLoadStop
read_record(GpuSortLoader *loader, const char *data)
{
	if (!gpusort_load_read_fields(&loader->fields, &loader->records, data, loader->record))
		return GPUSORT_LOAD_ODD;
	return finish_row(loader);
}

/* ---------- a batch ---------- */

/* Counts the first "count" records of the batch, which have been read. */
static void
count_records(GpuSortLoader *loader, GpuSortLoadInput *input, size_t count)
{
	const char *data = input->data + loader->batch_begin;
	uint64		lines = 0;

	input->counts.rows += count - loader->excluded;
	input->counts.excluded += loader->excluded;
	if (count > 0)
		lines = gs_records_lines(&loader->records, &loader->task->dialect, data, count - 1);
	input->counts.lines += lines;
	if (loader->task->indexed)
		gpusort_lines_note(&loader->lines, &loader->records, &loader->task->dialect, data, count,
						   lines, loader->excluded > 0);
	input->consumed = loader->batch_begin +
		(count == loader->records.nrecords && !loader->unproven ? loader->records.consumed
		 : gs_record_begin(&loader->records, &loader->task->dialect, count));
}

/*
 * Returns whether a record lies where the device says it does, given that the records before it do.
 */
static bool
is_proven(const GpuSortLoader *loader, const GpuSortLoadInput *input, size_t record)
{
	const gs_records *records = &loader->records;
	size_t		nfields = loader->task->nfields;
	size_t		first = record * nfields;

	return first + nfields <= records->nfields &&
		records->record_fields[record] == first + nfields &&
		gs_check_record(&loader->check, input->data + loader->batch_begin,
						input->bytes - loader->batch_begin,
						gs_record_begin(records, &loader->task->dialect, record),
						records->field_ends + first, nfields);
}

static void
read_batch(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	const char *data = input->data + loader->batch_begin;

	loader->excluded = 0;
	if (loader->task->indexed && loader->task->where != 0)
		gpusort_lines_begin(&loader->lines, loader->records.nrecords);
	for (loader->record = 0; loader->record < loader->records.nrecords; loader->record++)
	{
		if (loader->record % BATCH_RECORDS == 0)
			CHECK_FOR_INTERRUPTS();
		if (loader->unproven && !is_proven(loader, input, loader->record))
			return;
		if (loader->batch_begin + gs_record_end(&loader->records, loader->record) >
			loader->valid_bytes)
			input->stop = GPUSORT_LOAD_ODD;
		else
			input->stop = read_record(loader, data);
		if (input->stop != GPUSORT_LOAD_END)
			return;
		if (loader->computer != NULL)
			gpusort_computer_finish_row(loader->computer);
		MemoryContextReset(loader->row_context);
	}
}

/*
 * Returns whether the current error is about a value.  Then the record is left to PostgreSQL's
 * COPY, which meets the error again.
 */
static bool
error_is_about_value(const GpuSortLoader *loader)
{
	int			category = ERRCODE_TO_CATEGORY(geterrcode());

	/*
	 * Receive functions complain about a short message, and many functions have no code of their
	 * own for a value that would be too long.
	 */
	return loader->fields.in_function &&
		(geterrcode() == ERRCODE_PROTOCOL_VIOLATION || geterrcode() == ERRCODE_INTERNAL_ERROR ||
		 category == ERRCODE_DATA_EXCEPTION || category == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION ||
		 category == ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION ||
		 category == ERRCODE_FEATURE_NOT_SUPPORTED || category == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
		 geterrcode() == ERRCODE_UNSAFE_NEW_ENUM_VALUE_USAGE);
}

static void
try_batch(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	MemoryContext old = CurrentMemoryContext;

	gpusort_encoding_receive(loader->task, true);
	PG_TRY();
	{
		read_batch(loader, input);
		gpusort_encoding_receive(loader->task, false);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		gpusort_encoding_receive(loader->task, false);
		if (!error_is_about_value(loader))
			PG_RE_THROW();
		FlushErrorState();
		gpusort_computer_recover(loader->computer);
		if (loader->partition != NULL)
			gpusort_computer_recover(loader->partition->computer);
		input->stop = GPUSORT_LOAD_ODD;
	}
	PG_END_TRY();
	loader->fields.in_function = false;
	MemoryContextReset(loader->row_context);
	count_records(loader, input, loader->record);
}

/* ---------- a buffer ---------- */

/*
 * Reads the records that a device has found, as far as they are proven.  Returns whether that was
 * all of them.
 */
static bool
read_found(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	gs_records	own = loader->records;
	bool		all;

	loader->records = *input->found;
	loader->batch_begin = 0;
	loader->unproven = true;
	try_batch(loader, input);
	all = loader->record == loader->records.nrecords;
	loader->unproven = false;
	loader->records = own;
	return all;
}

/*
 * Finds the next batch of records.  "refused" tells that it begins with a record of a device's that
 * was not proven.  Then the device was mistaken if there is a record here that can be proven, but
 * not if the record is odd, or has too many fields.
 */
static void
find_batch(GpuSortLoader *loader, GpuSortLoadInput *input, bool refused)
{
	loader->batch_begin = input->consumed;
	gs_records_find(&loader->task->dialect, input->data + input->consumed,
					input->bytes - input->consumed, input->at_end, &loader->records);
	if (refused && loader->records.nrecords > 0)
		input->mistaken = is_proven(loader, input, 0);
}

static void
read_records(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	bool		refused = input->found != NULL && !read_found(loader, input);

	while (input->stop == GPUSORT_LOAD_END)
	{
		CHECK_FOR_INTERRUPTS();
		find_batch(loader, input, refused);
		refused = false;
		try_batch(loader, input);
		if (input->stop == GPUSORT_LOAD_END && loader->records.stop != GS_STOP_FULL)
		{
			if (loader->records.stop != GS_STOP_END)
				input->stop = GPUSORT_LOAD_ODD;
			break;
		}
	}
	input->decoded_toast = loader->decoded_toast;
}

/*
 * Reads the records of an input that is converted.  All records in the text are whole ones, so if
 * some of the text is left, the next record is odd, or has something that can't be converted.
 */
static void
read_converted(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	const gs_dialect *dialect = &loader->task->dialect;
	Size		whole = input->at_end ? input->bytes
		: gpusort_encoding_records(loader->encoding, dialect, input->data, input->bytes);
	GpuSortLoadText text = gpusort_encoding_text(loader->encoding, input->data, whole);
	GpuSortLoadInput read =
		{.data = text.data,.bytes = text.bytes,.at_end = input->at_end && text.is_whole};

	gpusort_load_fields_make_room(&loader->fields, read.bytes);
	loader->valid_bytes = text.valid;
	read_records(loader, &read);
	if (read.stop == GPUSORT_LOAD_END && (read.consumed < read.bytes || !text.is_whole))
		read.stop = GPUSORT_LOAD_ODD;
	input->stop = read.stop;
	input->counts = read.counts;
	input->decoded_toast = read.decoded_toast;
	input->consumed = read.stop == GPUSORT_LOAD_END ? whole
		: gpusort_encoding_find(loader->encoding, dialect, input->data, whole,
								read.counts.rows + read.counts.excluded, &loader->records);
}

void
gpusort_loader_read(GpuSortLoader *loader, GpuSortLoadInput *input)
{
	loader->may_toast = input->may_toast;
	loader->decoded_toast = false;
	gpusort_lines_clear(&loader->lines);
	input->consumed = 0;
	input->counts = (GpuSortLoadCounts) {
		0
	};
	input->mistaken = false;
	input->stop = GPUSORT_LOAD_END;
	if (gpusort_encoding_converts(loader->encoding))
	{
		read_converted(loader, input);
		return;
	}
	loader->valid_bytes = input->bytes;
	if (!loader->task->dialect.binary)
	{
		gpusort_load_fields_make_room(&loader->fields, input->bytes);
		loader->valid_bytes =
			gpusort_encoding_text(loader->encoding, input->data, input->bytes).valid;
	}
	read_records(loader, input);
}
