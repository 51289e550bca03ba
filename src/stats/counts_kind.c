/*
 * counts_kind.c
 *		Counts of sorts as a kind of the server's statistics; see stats.h.
 *
 * What a process has counted is pending until the server flushes the process's statistics, at the
 * end of a transaction, and not more than once in a second.  The server drops entries with their
 * database.
 */
#include "postgres.h"

#include "pg_compat/statistics.h"

#ifdef GPUSORT_HAS_STATISTICS_KINDS

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/pgstat_internal.h"
#include "utils/timestamp.h"

#include "stats/stats.h"

/*
 * One of the numbers for extensions, which are 24 to 32.  The first is for experiments, and the
 * server's tests use the next ones.
 */
#define KIND	29

typedef struct Counts
{
	GpuSortTally tally;
	TimestampTz since;
} Counts;

typedef struct SharedCounts
{
	PgStatShared_Common header;
	Counts		counts;
} SharedCounts;

static bool installed = false;

static bool
flush(PgStat_EntryRef *entry, bool nowait)
{
	const GpuSortTally *pending = entry->pending;
	SharedCounts *shared = (SharedCounts *) entry->shared_stats;

	if (!pgstat_lock_entry(entry, nowait))
		return false;
	gpusort_tally_add(&shared->counts.tally, pending);
	if (shared->counts.since == 0)
		shared->counts.since = GetCurrentTransactionStopTimestamp();
	pgstat_unlock_entry(entry);
	return true;
}

static void
reset_timestamp(PgStatShared_Common *header, TimestampTz now)
{
	((SharedCounts *) header)->counts.since = now;
}

static const PgStat_KindInfo kind_info = {
	.name = "gpusort",
	.fixed_amount = false,
	.accessed_across_databases = true,
	.write_to_file = true,
	.shared_size = sizeof(SharedCounts),
	.shared_data_off = offsetof(SharedCounts, counts),
	.shared_data_len = sizeof(Counts),
	.pending_size = sizeof(GpuSortTally),
	.flush_pending_cb = flush,
	.reset_timestamp_cb = reset_timestamp
};

/* Returns the object id of a kind's entry, which must not be 0. */
static uint64
object_of(GpuSortKind kind)
{
	return (uint64) kind + 1;
}

void
gpusort_install_counts(void)
{
	pgstat_register_kind(KIND, &kind_info);
	installed = true;
}

/*
 * There is nothing to do here: the server has the memory, and drops a database's entries with it.
 */
void
gpusort_request_counts(void)
{
}

void
gpusort_make_counts(void)
{
}

void
gpusort_drop_counts(Oid database)
{
}

bool
gpusort_has_counts(void)
{
	return installed;
}

void
gpusort_count(GpuSortKind kind, const GpuSortTally *tally)
{
	PgStat_EntryRef *entry;

	if (!installed || !OidIsValid(MyDatabaseId))
		return;
	entry = pgstat_prep_pending_entry(KIND, MyDatabaseId, object_of(kind), NULL);
	gpusort_tally_add(entry->pending, tally);
}

bool
gpusort_read_counts(Oid database, GpuSortKind kind, GpuSortTally *tally, TimestampTz *since)
{
	const Counts *counts = gpusort_fetch_statistics(KIND, database, object_of(kind));

	if (counts == NULL)
		return false;
	*tally = counts->tally;
	*since = counts->since;
	return true;
}

static bool
is_of_database(PgStatShared_HashEntry *entry, Datum database)
{
	return entry->key.kind == KIND && entry->key.dboid == DatumGetObjectId(database);
}

void
gpusort_reset_counts(Oid database)
{
	if (OidIsValid(database))
		pgstat_reset_matching_entries(is_of_database, ObjectIdGetDatum(database),
									  GetCurrentTimestamp());
	else
		pgstat_reset_of_kind(KIND);
}

#endif							/* GPUSORT_HAS_STATISTICS_KINDS */
