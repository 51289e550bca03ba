/*
 * out_receiver.c
 *		Taking the rows of a query from the executor; see out_receiver.h.
 */
#include "postgres.h"

#include "bulk/out_receiver.h"

typedef struct OutReceiver
{
	DestReceiver pub;			/* must be first field */
	GpuSortOutStream *stream;
} OutReceiver;

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
}

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	gpusort_out_stream_row(((OutReceiver *) self)->stream, slot);
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
