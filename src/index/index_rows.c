/*
 * index_rows.c
 *		Takes in the rows that one process of an index build reads, and hands rows from workers
 *		to the leader; see index_read_private.h.
 *
 * A row that the sort has no room for makes the build fail (index_build.c).  But a scan by the
 * server can't be stopped, so the remaining rows of such a scan are ignored.
 */
#include "postgres.h"

#include "index/index.h"
#include "index/index_read_private.h"
#include "sort/sort.h"
#include "team/workers.h"

/* ---------- rows of one process ---------- */

void
gpusort_index_begin_part(GpuSortIndexRows *rows, Relation index)
{
	GpuSortSpec spec;
	const char *reason;

	if (rows->parts != NULL && gpusort_index_sort_spec(index, &spec, &reason))
		rows->part = gpusort_parts_begin_index_part(rows->parts, index, &spec);
}

void
gpusort_index_finish_part(GpuSortIndexRows *rows)
{
	if (rows->part == NULL)
		return;
	if (!rows->failed)
		gpusort_parts_finish_part(rows->parts, rows->part);
	gpusort_end(rows->part);
	rows->part = NULL;
}

void
gpusort_index_put_values(GpuSortIndexRows *rows, const Datum *values, const bool *isnull,
						 ItemPointer tid, bool alive)
{
	if (rows->failed)
		return;
	if (rows->part != NULL && !rows->part_full)
	{
		if (gpusort_put_index_values(rows->part, values, isnull, tid, alive))
			return;
		rows->part_full = true;
	}
	rows->failed = !gpusort_put_index_values(rows->sort, values, isnull, tid, alive);
}

/* Put index tuples that a worker has formed, which lie end to end in so many bytes. */
static void
gpusort_index_put_tuples(GpuSortIndexRows *rows, const char *tuples, Size bytes)
{
	for (Size at = 0; at < bytes && !rows->failed;)
	{
		IndexTuple	tuple = (IndexTuple) (tuples + at);

		rows->failed = !gpusort_put_index_tuple(rows->sort, tuple);
		at += IndexTupleSize(tuple);
	}
}

/* ---------- exchange ---------- */

/*
 * A batch takes at most half a queue, so that a worker can fill one half while the leader reads the
 * other.
 */
#define QUEUE_BYTES		((Size) 256 * 1024)
#define BATCH_BYTES		((Size) 64 * 1024)

struct GpuSortRowExchange
{
	bool		worker;
	/* number of queues that are not detached; they come first in `queues` */
	int			count;
	/* bytes of rows that a worker has sent, or the leader has received */
	uint64		bytes;
	shm_mq_handle **queues;
};

GpuSortMember
gpusort_exchange_member(int workers)
{
	return gpusort_queues_member(workers, QUEUE_BYTES);
}

GpuSortRowExchange *
gpusort_exchange_attach(char *member, const ParallelContext *context)
{
	GpuSortRowExchange *exchange = palloc0(sizeof(GpuSortRowExchange));

	exchange->count = context->nworkers_launched;
	exchange->queues = gpusort_queues_attach(member, QUEUE_BYTES, context);
	return exchange;
}

GpuSortRowExchange *
gpusort_exchange_join(char *member, dsm_segment *segment)
{
	GpuSortRowExchange *exchange = palloc0(sizeof(GpuSortRowExchange));

	exchange->worker = true;
	exchange->count = 1;
	exchange->queues = palloc(sizeof(shm_mq_handle *));
	exchange->queues[0] = gpusort_queues_join(member, QUEUE_BYTES, segment);
	return exchange;
}

/*
 * Send the rows in a worker's row store, and empty it.  If the leader has detached, the build has
 * failed.
 */
static void
send_rows(GpuSortRowExchange *exchange, GpuSortIndexRows *rows)
{
	Size		bytes;
	const void *batch = gpusort_stored_rows(rows->sort, &bytes);

	if (bytes == 0 || rows->failed)
		return;
	if (shm_mq_send(exchange->queues[0], bytes, batch, false, true) != SHM_MQ_SUCCESS)
		rows->failed = true;
	exchange->bytes += bytes;
	gpusort_reset(rows->sort);
}

/* A queue from which its worker has detached is dropped from the list. */
bool
gpusort_exchange_receive(GpuSortRowExchange *exchange, GpuSortIndexRows *rows)
{
	bool		any = false;

	for (int i = 0; i < exchange->count && !rows->failed;)
	{
		Size		bytes;
		void	   *batch;

		switch (shm_mq_receive(exchange->queues[i], &bytes, &batch, true))
		{
			case SHM_MQ_SUCCESS:
				gpusort_index_put_tuples(rows, batch, bytes);
				exchange->bytes += bytes;
				any = true;
				break;
			case SHM_MQ_WOULD_BLOCK:
				i++;
				break;
			case SHM_MQ_DETACHED:
				exchange->queues[i] = exchange->queues[--exchange->count];
				break;
		}
	}
	return any;
}

void
gpusort_exchange_rows(GpuSortRowExchange *exchange, GpuSortIndexRows *rows)
{
	if (rows->failed)
		return;
	if (!exchange->worker)
		gpusort_exchange_receive(exchange, rows);
	else
	{
		Size		bytes;

		(void) gpusort_stored_rows(rows->sort, &bytes);
		if (bytes >= BATCH_BYTES)
			send_rows(exchange, rows);
	}
}

void
gpusort_exchange_send_rest(GpuSortRowExchange *exchange, GpuSortIndexRows *rows)
{
	send_rows(exchange, rows);
}

uint64
gpusort_exchange_moved_bytes(const GpuSortRowExchange *exchange)
{
	return exchange->bytes;
}

bool
gpusort_exchange_is_open(const GpuSortRowExchange *exchange)
{
	return exchange->count > 0;
}

void
gpusort_exchange_close(GpuSortRowExchange *exchange)
{
	while (exchange->count > 0)
		shm_mq_detach(exchange->queues[--exchange->count]);
}
