/*
 * out_receiver.c
 *		Taking the rows of a query from the executor; see out_receiver.h.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "bulk/out_leader.h"
#include "bulk/out_receiver.h"
#include "exec/exec_junk.h"
#include "exec/exec_sort.h"

typedef struct OutReceiver
{
	DestReceiver pub;			/* must be first field */
	GpuSortOutStream *stream;
	const GpuSortOutColumn *columns;
	QueryDesc  *query;
	bool		received;		/* a row */
} OutReceiver;

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
}

/* Have all rows written, if the first one and those after it are a sort's. */
static bool
write_all(OutReceiver *receiver)
{
	QueryDesc  *query = receiver->query;
	GpuSortReturned returned;

	if (query->instrument_options != 0 || query->estate->es_junkFilter != NULL ||
		!gpusort_returned_rows(gpusort_returning_node(query->planstate), &returned) ||
		!gpusort_out_write_returned(receiver->stream, receiver->columns, &returned))
		return false;
	query->estate->es_processed += returned.to - returned.from;
	return true;
}

/* False ends the query. */
static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	OutReceiver *receiver = (OutReceiver *) self;

	if (unlikely(!receiver->received))
	{
		receiver->received = true;
		if (write_all(receiver))
			return false;
	}
	gpusort_out_stream_row(receiver->stream, slot);
	return true;
}

static void
shut_down(DestReceiver *self)
{
}

static void
destroy(DestReceiver *self)
{
	pfree(self);
}

DestReceiver *
gpusort_out_make_receiver(GpuSortOutStream *stream)
{
	OutReceiver *receiver = palloc0(sizeof(OutReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = start_up;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = DestCopyOut;
	receiver->stream = stream;
	return &receiver->pub;
}

void
gpusort_out_begin_receiver(QueryDesc *query, const GpuSortOutColumn *columns)
{
	OutReceiver *receiver = (OutReceiver *) query->dest;

	receiver->query = query;
	receiver->columns = columns;
}
