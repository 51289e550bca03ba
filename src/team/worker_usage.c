/*
 * worker_usage.c
 *		What workers are told about their statement, and what they use; see worker_usage.h.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "pgstat.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"

#include "team/shared_chunk.h"
#include "team/worker_usage.h"
#include "team/worker_wait.h"

/* Keys of the chunks of shared memory. */
#define KEY_STATEMENT		UINT64CONST(0x4753000000000f01)
#define KEY_WAL_USAGE		UINT64CONST(0x4753000000000f02)
#define KEY_BUFFER_USAGE	UINT64CONST(0x4753000000000f03)

typedef struct Statement
{
	uint64		query_id;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Statement;

static const char *
statement_text(void)
{
	return debug_query_string != NULL ? debug_query_string : "";
}

static Size
statement_bytes(void)
{
	return offsetof(Statement, text) + strlen(statement_text()) + 1;
}

void
gpusort_estimate_usage(ParallelContext *context)
{
	const Size	bytes[] = {
		statement_bytes(), mul_size(sizeof(WalUsage), context->nworkers),
		mul_size(sizeof(BufferUsage), context->nworkers)
	};

	gpusort_estimate_chunks(context, bytes, lengthof(bytes));
}

void
gpusort_make_usage(ParallelContext *context)
{
	Statement  *statement = gpusort_make_chunk(context, KEY_STATEMENT, statement_bytes());

	statement->query_id = pgstat_get_my_query_id();
	strcpy(statement->text, statement_text());
	(void) gpusort_make_chunk(context, KEY_WAL_USAGE,
							  mul_size(sizeof(WalUsage), context->nworkers));
	(void) gpusort_make_chunk(context, KEY_BUFFER_USAGE,
							  mul_size(sizeof(BufferUsage), context->nworkers));
}

void
gpusort_finish_workers(ParallelContext *context)
{
	WalUsage   *wal = shm_toc_lookup(context->toc, KEY_WAL_USAGE, false);
	BufferUsage *buffers = shm_toc_lookup(context->toc, KEY_BUFFER_USAGE, false);

	gpusort_worker_await_end(context);
	for (int i = 0; i < context->nworkers_launched; i++)
		InstrAccumParallelQuery(&buffers[i], &wal[i]);
}

void
gpusort_begin_worker(shm_toc *toc)
{
	const Statement *statement = shm_toc_lookup(toc, KEY_STATEMENT, false);

	debug_query_string = statement->text;
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(statement->query_id, false);
	InstrStartParallelQuery();
}

void
gpusort_end_worker(shm_toc *toc)
{
	WalUsage   *wal = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffers = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);

	InstrEndParallelQuery(&buffers[ParallelWorkerNumber], &wal[ParallelWorkerNumber]);
}
