/*
 * copy_to.c
 *		Executes a COPY TO; see copy_to.h.
 *
 * As in PostgreSQL's COPY, the query is planned and started before the file is opened, so that an
 * error there leaves the file as it was.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "bulk/copy_to.h"
#include "bulk/out_leader.h"
#include "bulk/out_receiver.h"
#include "bulk/out_stream.h"
#include "pg_compat/executor.h"
#include "pg_compat/tables.h"

typedef struct CopyTo
{
	GpuSortCopyStatement *statement;
	QueryDesc  *query;			/* NULL if a table is copied */
	TupleDesc	desc;			/* descriptor of the rows that are read */
	GpuSortOutFormat format;
	GpuSortOutColumn *columns;
	GpuSortOutTarget target;
	GpuSortOutStream stream;
} CopyTo;

/* ---------- the query ---------- */

static PlannedStmt *
plan_query(const GpuSortCopyStatement *copy, int location, int length)
{
	RawStmt    *raw = makeNode(RawStmt);
	const char *text = copy->pstate->p_sourcetext;
	List	   *queries;

	/* the statement may be a cached one, which must not be changed */
	raw->stmt = copyObject(copy->stmt->query);
	raw->stmt_location = location;
	raw->stmt_len = length;
	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	if (list_length(queries) != 1)
		elog(ERROR, "COPY of a SELECT was rewritten to %d queries", list_length(queries));
	return gpusort_plan_query(linitial_node(Query, queries), text);
}

static void
start_query(CopyTo *to, int location, int length)
{
	PlannedStmt *plan = plan_query(to->statement, location, length);

	/* let the query see what earlier commands have done */
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	to->query = CreateQueryDesc(plan, to->statement->pstate->p_sourcetext, GetActiveSnapshot(),
								InvalidSnapshot, gpusort_out_make_receiver(&to->stream),
								NULL, NULL, 0);
	ExecutorStart(to->query, 0);
	to->desc = to->query->tupDesc;
}

static void
end_query(CopyTo *to)
{
	DestReceiver *receiver = to->query->dest;

	ExecutorFinish(to->query);
	ExecutorEnd(to->query);
	FreeQueryDesc(to->query);
	PopActiveSnapshot();
	receiver->rDestroy(receiver);
}

/* ---------- the table ---------- */

static void
copy_table(CopyTo *to)
{
	Relation	table = to->statement->relation;
	TableScanDesc scan = gpusort_table_beginscan(table, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_out_stream_row(&to->stream, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/* ---------- where the rows go ---------- */

static void
open_target(CopyTo *to)
{
	const CopyStmt *stmt = to->statement->stmt;
	const int	parameters[] = {PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE};
	int64		values[] = {PROGRESS_COPY_COMMAND_TO, PROGRESS_COPY_TYPE_PIPE};
	Relation	table = to->statement->relation;

	to->target.copy = true;
	if (stmt->filename != NULL && stmt->is_program)
	{
		values[1] = PROGRESS_COPY_TYPE_PROGRAM;
		gpusort_out_open_program(&to->target, stmt->filename);
	}
	else if (stmt->filename != NULL)
	{
		values[1] = PROGRESS_COPY_TYPE_FILE;
		gpusort_out_open_file(&to->target, stmt->filename);
	}
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  table != NULL ? RelationGetRelid(table) : InvalidOid);
	pgstat_progress_update_multi_param(2, parameters, values);
}

/* Send the CopyOutResponse message. */
static void
begin_client_copy(const GpuSortOutFormat *format)
{
	int			binary = format->style == GPUSORT_OUT_BINARY ? 1 : 0;
	StringInfoData message;

	pq_beginmessage(&message, 'H');
	pq_sendbyte(&message, binary);
	pq_sendint16(&message, format->ncolumns);
	for (int i = 0; i < format->ncolumns; i++)
		pq_sendint16(&message, binary);
	pq_endmessage(&message);
}

/* ---------- all of it ---------- */

/*
 * Header of the binary format: the signature, no flags, no extension.  It is sent in front of the
 * first row, or of the trailer if there are no rows.
 */
static const char binary_header[] = "PGCOPY\n\377\r\n\0" "\0\0\0\0" "\0\0\0\0";

static void
begin_rows(CopyTo *to)
{
	if (to->format.messages)
		begin_client_copy(&to->format);
	gpusort_out_begin_stream(&to->stream, &to->format, to->columns, &to->target);
	if (to->format.style == GPUSORT_OUT_BINARY)
	{
		to->target.prefix = binary_header;
		to->target.prefix_length = sizeof(binary_header) - 1;
	}
	else if (to->statement->options.header_line != COPY_HEADER_FALSE)
		gpusort_out_stream_header(&to->stream, to->desc);
}

static void
end_rows(CopyTo *to)
{
	if (to->format.style == GPUSORT_OUT_BINARY)
		gpusort_out_stream_bytes(&to->stream, "\377\377", 2);
	gpusort_out_flush_stream(&to->stream);
	if (to->format.messages)
		pq_putemptymessage('c');
}

static void
copy_rows(CopyTo *to)
{
	begin_rows(to);
	if (to->query != NULL)
	{
		gpusort_out_begin_receiver(to->query, to->columns);
		gpusort_run_to_the_end(to->query);
	}
	else if (!gpusort_out_write_table(&to->stream, to->columns, to->statement->relation))
		copy_table(to);
	end_rows(to);
}

uint64
gpusort_copy_to(GpuSortCopyStatement *copy, int location, int length)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CopyTo	   *to = palloc0(sizeof(CopyTo));
	uint64		rows;

	to->statement = copy;
	if (copy->relation != NULL)
		to->desc = RelationGetDescr(copy->relation);
	else
		start_query(to, location, length);
	to->columns = gpusort_copy_columns(copy, to->desc, &to->format);
	open_target(to);
	copy_rows(to);
	if (to->query != NULL)
		end_query(to);
	gpusort_out_close(&to->target);
	pgstat_progress_end_command();
	rows = to->target.rows;
	ereport(DEBUG1,
			(errmsg_internal("gpusort copied %llu rows", (unsigned long long) rows)));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (copy->relation != NULL)
		table_close(copy->relation, NoLock);
	return rows;
}
