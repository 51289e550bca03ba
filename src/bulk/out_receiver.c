/*
 * out_receiver.c
 *		Takes the rows of a query from the executor; see out_receiver.h.
 */
#include "postgres.h"

#include "bulk/out_leader.h"
#include "bulk/out_receiver.h"

typedef struct OutReceiver
{
	DestReceiver pub;			/* must be first field */
	GpuSortOutStream *stream;
	const GpuSortOutColumn *columns;
	QueryDesc  *query;
	bool		received;		/* a row has been received */
} OutReceiver;

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
}

/* Receive a row.  Returns false, which ends the query, if workers have written all rows. */
static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	OutReceiver *receiver = (OutReceiver *) self;

	if (unlikely(!receiver->received))
	{
		receiver->received = true;
		if (gpusort_out_write_query(receiver->stream, receiver->columns, receiver->query))
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
	gpusort_out_expect_query(query);
	receiver->columns = columns;
}
