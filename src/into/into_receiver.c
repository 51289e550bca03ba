/*
 * into_receiver.c
 *		Taking the rows of a query that fills a new table; see into.h.
 *
 * The server's receiver makes the table, or has been told which table it is, and takes the rows if
 * we do not.  It does not tell which table it makes.  So we watch it: the first table that is made
 * while the receiver starts up is the one.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "exec/exec.h"
#include "into/into.h"
#include "into/into_private.h"
#include "pg_compat/copy.h"
#include "settings.h"

typedef struct IntoReceiver
{
	DestReceiver pub;			/* must be first field */
	DestReceiver *server;
	QueryDesc  *query;
	Oid			table;
	CommandId	command;
} IntoReceiver;

/* Where to store the OID of the next table that is made, or NULL if nobody asks. */
static Oid *made_table = NULL;

/* ---------- which table ---------- */

void
gpusort_note_made_table(Oid table)
{
	if (made_table != NULL && !OidIsValid(*made_table))
		*made_table = table;
}

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
	IntoReceiver *receiver = (IntoReceiver *) self;
	DestReceiver *server = receiver->server;
	Oid		   *outer = made_table;

	PG_TRY();
	{
		made_table = server->mydest == DestIntoRel ? &receiver->table : NULL;
		server->rStartup(server, operation, desc);
	}
	PG_FINALLY();
	{
		made_table = outer;
	}
	PG_END_TRY();
	receiver->command = GetCurrentCommandId(true);
}

/*
 * Returns whether the table is an ordinary heap that nobody has written to, and whose rows nobody
 * will decode from WAL, which will have pages and not rows.
 */
static bool
is_ours(Relation table, const GpuSortReturned *rows)
{
	return (table->rd_rel->relkind == RELKIND_RELATION ||
			table->rd_rel->relkind == RELKIND_MATVIEW) &&
		table->rd_tableam == GetHeapamTableAmRoutine() &&
		!RelationIsLogicallyLogged(table) &&
		RelationGetDescr(table)->natts == rows->desc->natts &&
		RelationGetNumberOfBlocks(table) == 0;
}

/* ---------- rows ---------- */

/*
 * Puts all rows into the table, if the one that was just returned and those behind it come from a
 * sort of ours.  Returns false if the server's receiver has to take them.
 */
static bool
write_rows(IntoReceiver *receiver)
{
	QueryDesc  *query = receiver->query;
	GpuSortIntoTarget target = {
		.owner = {
			.cid = receiver->command, .frozen = receiver->server->mydest == DestTransientRel
		},
		.estate = query->estate
	};
	GpuSortReturned rows;
	bool		ours;

	if (query->instrument_options != 0 || query->estate->es_junkFilter != NULL ||
		!OidIsValid(receiver->table) ||
		!gpusort_returned_rows(gpusort_returning_node(query->planstate), &rows) ||
		gpusort_into_are_few(&rows))
		return false;
	target.table = table_open(receiver->table, NoLock);
	ours = is_ours(target.table, &rows);
	if (ours)
	{
		target.owner.xid = GetCurrentTransactionId();
		gpusort_into_write(&target, &rows);
		query->estate->es_processed += rows.to - rows.from;
	}
	table_close(target.table, NoLock);
	return ours;
}

static bool
receive_theirs(TupleTableSlot *slot, DestReceiver *self)
{
	DestReceiver *server = ((IntoReceiver *) self)->server;

	return server->receiveSlot(slot, server);
}

/* Receives the first row; returns false, which ends the query, if all rows are in the table. */
static bool
receive_first(TupleTableSlot *slot, DestReceiver *self)
{
	if (write_rows((IntoReceiver *) self))
		return false;
	self->receiveSlot = receive_theirs;
	return receive_theirs(slot, self);
}

static void
shut_down(DestReceiver *self)
{
	DestReceiver *server = ((IntoReceiver *) self)->server;

	server->rShutdown(server);
}

static void
destroy(DestReceiver *self)
{
	pfree(self);
}

DestReceiver *
gpusort_make_into_receiver(QueryDesc *query)
{
	DestReceiver *server = query->dest;
	IntoReceiver *receiver;

	if (!gpusort_enable_create_table_as)
		return NULL;
	receiver = palloc0(sizeof(IntoReceiver));
	receiver->pub.receiveSlot = receive_first;
	receiver->pub.rStartup = start_up;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = server->mydest;
	receiver->server = server;
	receiver->query = query;
	gpusort_tell_viewed(gpusort_returning_node(query->planstate));
	if (server->mydest == DestTransientRel)
		receiver->table = gpusort_transient_table(server);
	return &receiver->pub;
}
