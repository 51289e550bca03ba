/*
 * select_receiver.c
 *		Sends the rows of a query to the client; see bulk.h.
 *
 * The server's receiver sends the first rows.  It sends all of them if they are few, or if the
 * client has asked for a format that does not exist, so that the server reports the error.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "tcop/pquery.h"

#include "bulk/bulk.h"
#include "bulk/out_stream_private.h"
#include "exec/exec.h"
#include "settings.h"

/* With fewer rows than this, setting up our own stream does not pay. */
#define FEW_ROWS	200

typedef struct SelectReceiver
{
	DestReceiver pub;			/* must be first field */
	DestReceiver *client;		/* the server's receiver */
	QueryDesc  *query;
	const int16 *formats;		/* formats of the columns; NULL if all are text */
	uint64		early_rows;		/* rows that were left to the server's receiver */

	/* our own stream, if begun */
	bool		begun;
	GpuSortOutTarget target;
	GpuSortOutColumn *columns;
	GpuSortOutStream stream;
} SelectReceiver;

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
	DestReceiver *client = ((SelectReceiver *) self)->client;

	client->rStartup(client, operation, desc);
}

/* Returns whether the client has asked only for formats that exist. */
static bool
formats_are_known(const SelectReceiver *receiver)
{
	int			natts = receiver->query->tupDesc->natts;

	if (receiver->formats == NULL)
		return true;
	for (int i = 0; i < natts; i++)
		if (receiver->formats[i] != 0 && receiver->formats[i] != 1)
			return false;
	return true;
}

/* Begin our own stream to the client. */
static void
begin(SelectReceiver *receiver)
{
	TupleDesc	desc = receiver->query->tupDesc;
	GpuSortOutFormat format = {
		.style = GPUSORT_OUT_DATA_ROW,
		.messages = true,
		.encoding = pg_get_client_encoding(),
		.ncolumns = desc->natts
	};

	receiver->columns = palloc(Max(desc->natts, 1) * sizeof(GpuSortOutColumn));
	for (int i = 0; i < desc->natts; i++)
		receiver->columns[i] = (GpuSortOutColumn) {
			.type = TupleDescAttr(desc, i)->atttypid,
			.attribute = i,
			.binary = receiver->formats != NULL && receiver->formats[i] == 1
		};
	gpusort_out_begin_stream(&receiver->stream, &format, receiver->columns, &receiver->target);
	receiver->begun = true;
}

static bool
receive_own(TupleTableSlot *slot, DestReceiver *self)
{
	gpusort_out_stream_row(&((SelectReceiver *) self)->stream, slot);
	return true;
}

/* Pass a row on to the server's receiver. */
static bool
receive_theirs(TupleTableSlot *slot, DestReceiver *self)
{
	DestReceiver *client = ((SelectReceiver *) self)->client;

	return client->receiveSlot(slot, client);
}

/* Receive one of the first rows, when their number is not known. */
static bool
receive_early(TupleTableSlot *slot, DestReceiver *self)
{
	SelectReceiver *receiver = (SelectReceiver *) self;

	if (++receiver->early_rows == FEW_ROWS)
	{
		begin(receiver);
		self->receiveSlot = receive_own;
	}
	return receive_theirs(slot, self);
}

/*
 * Receive the first row, and decide how the others are sent.  Returns false, which ends the query,
 * if workers have sent all rows.
 */
static bool
receive_first(TupleTableSlot *slot, DestReceiver *self)
{
	SelectReceiver *receiver = (SelectReceiver *) self;
	bool		known;
	GpuSortReturned rows;

	known = gpusort_returned_rows(gpusort_returning_node(receiver->query->planstate), &rows);
	if (!formats_are_known(receiver) || (known && rows.to - rows.from < FEW_ROWS))
		self->receiveSlot = receive_theirs;
	else if (!known)
		self->receiveSlot = receive_early;
	else
	{
		begin(receiver);
		if (gpusort_out_write_query(&receiver->stream, receiver->columns, receiver->query))
			return false;
		self->receiveSlot = receive_own;
	}
	return self->receiveSlot(slot, self);
}

static void
shut_down(DestReceiver *self)
{
	SelectReceiver *receiver = (SelectReceiver *) self;

	if (receiver->begun)
	{
		gpusort_out_flush_stream(&receiver->stream);
		ereport(DEBUG1,
				(errmsg_internal("gpusort sent %llu rows",
								 (unsigned long long) receiver->target.rows)));
	}
	receiver->client->rShutdown(receiver->client);
}

static void
destroy(DestReceiver *self)
{
	pfree(self);
}

/* Returns whether the active portal returns the query's rows to the client. */
static bool
is_client_query(const QueryDesc *query)
{
	return ActivePortal != NULL && ActivePortal->queryDesc == query &&
		gpusort_out_client_is_there();
}

DestReceiver *
gpusort_make_select_receiver(QueryDesc *query)
{
	SelectReceiver *receiver;

	if (!gpusort_enable_select || !is_client_query(query))
		return NULL;
	receiver = palloc0(sizeof(SelectReceiver));
	receiver->pub.receiveSlot = receive_first;
	receiver->pub.rStartup = start_up;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = query->dest->mydest;
	receiver->client = query->dest;
	receiver->query = query;
	receiver->formats = ActivePortal->formats;
	gpusort_out_expect_query(query);
	return &receiver->pub;
}
