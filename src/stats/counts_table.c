/*
 * counts_table.c
 *		Counts of sorts in a table of our own, and in a file; see stats.h.
 *
 * This is for servers on which extensions cannot have statistics kinds of their own.  The
 * postmaster writes the file when it ends.  When it starts, it reads the file, if the server was
 * shut down cleanly, and deletes it; so there is no file after a crash.  The counts of a database
 * are deleted when it is dropped.  On a standby, where a database is dropped by replaying WAL, they
 * are deleted when all counts are reset.
 *
 * The lock is held exclusively when entries are added or removed.  Counts are added to an entry
 * with the lock held in shared mode, under the entry's own mutex.
 */
#include "postgres.h"

#include "pg_compat/statistics.h"

#ifndef GPUSORT_HAS_STATISTICS_KINDS

#include <unistd.h>

#include "access/xact.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/hsearch.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "stats/stats.h"

/*
 * These take about 500 kB.  Sorts of further databases are counted under database 0, whose entries
 * always exist.
 */
#define MAX_DATABASES	128
#define MAX_ENTRIES		((MAX_DATABASES + 1) * GPUSORT_KINDS)

#define TRANCHE			"gpusort"
#define FILE_NAME		PGSTAT_STAT_PERMANENT_DIRECTORY "/gpusort.stat"
#define FILE_FORMAT		0x67730100

typedef struct Key
{
	Oid			database;
	int32		kind;
} Key;

typedef struct Counts
{
	Key			key;			/* must be first field */
	GpuSortTally tally;
	TimestampTz since;
} Counts;

typedef struct Entry
{
	Counts		counts;			/* must be first field */
	slock_t		mutex;			/* protects the tally */
} Entry;

/* The head of the file. */
typedef struct FileHead
{
	uint32		format;
	uint32		entry_bytes;
	int32		entries;
} FileHead;

static HTAB *table = NULL;
static LWLock *lock = NULL;

/* The database that this transaction drops, if any. */
static Oid	dropped = InvalidOid;

static bool
is_full(void)
{
	return hash_get_num_entries(table) >= MAX_ENTRIES;
}

/*
 * Returns the entry to count in, or NULL if it does not exist but can be made.  The lock must be
 * held.
 */
static Entry *
find_entry(const Key *key)
{
	Key			others = {InvalidOid, key->kind};
	Entry	   *entry = hash_search(table, key, HASH_FIND, NULL);

	return entry == NULL && is_full() ? hash_search(table, &others, HASH_FIND, NULL) : entry;
}

/*
 * Returns the entry to count in, and makes it if need be.  The lock must be held exclusively, but
 * for the postmaster.
 */
static Entry *
make_entry(const Key *key)
{
	bool		found;
	Entry	   *entry = find_entry(key);

	if (entry != NULL)
		return entry;
	entry = hash_search(table, key, HASH_ENTER_NULL, &found);
	if (entry == NULL)
		return NULL;
	memset(&entry->counts.tally, 0, sizeof(entry->counts.tally));
	entry->counts.since = GetCurrentTimestamp();
	SpinLockInit(&entry->mutex);
	return entry;
}

/* ---------- the file ---------- */

static void
complain(const char *what)
{
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s\": %m", what, FILE_NAME)));
}

static bool
write_entries(FILE *file)
{
	FileHead	head = {FILE_FORMAT, sizeof(Counts), (int32) hash_get_num_entries(table)};
	HASH_SEQ_STATUS scan;
	Entry	   *entry;
	bool		written = fwrite(&head, sizeof(head), 1, file) == 1;

	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
		written = written && fwrite(&entry->counts, sizeof(Counts), 1, file) == 1;
	return written;
}

/*
 * Called when the postmaster exits: writes the counts to the file, unless it exits because of a
 * failure.
 */
static void
write_file(int code, Datum arg)
{
	FILE	   *file;
	bool		written;

	if (code != 0 || table == NULL)
		return;
	file = AllocateFile(FILE_NAME ".tmp", PG_BINARY_W);
	if (file == NULL)
	{
		complain("create");
		return;
	}
	written = write_entries(file);
	if (FreeFile(file) != 0 || !written)
	{
		complain("write");
		unlink(FILE_NAME ".tmp");
		return;
	}
	(void) durable_rename(FILE_NAME ".tmp", FILE_NAME, LOG);
}

static bool
read_entries(FILE *file)
{
	FileHead	head;
	Counts		counts;

	if (fread(&head, sizeof(head), 1, file) != 1 || head.format != FILE_FORMAT ||
		head.entry_bytes != sizeof(Counts))
		return false;
	for (int i = 0; i < head.entries; i++)
	{
		Entry	   *entry;

		if (fread(&counts, sizeof(counts), 1, file) != 1)
			return false;
		entry = make_entry(&counts.key);
		if (entry == NULL)
			return false;
		if (entry->counts.key.database == counts.key.database)
			entry->counts = counts;
		else
			gpusort_tally_add(&entry->counts.tally, &counts.tally);
	}
	return true;
}

/*
 * Returns whether the server was shut down cleanly.  That the file exists does not tell: an
 * immediate shutdown ends the postmaster without a failure, too, so the file is written.
 */
static bool
was_shut_down(void)
{
	bool		crc_ok;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);
	bool		shut_down = crc_ok && (control->state == DB_SHUTDOWNED ||
									   control->state == DB_SHUTDOWNED_IN_RECOVERY);

	pfree(control);
	return shut_down;
}

static void
read_file(void)
{
	FILE	   *file = AllocateFile(FILE_NAME, PG_BINARY_R);

	if (file == NULL)
	{
		if (errno != ENOENT)
			complain("read");
		return;
	}
	if (was_shut_down() && !read_entries(file))
		ereport(LOG,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("ignoring invalid data in file \"%s\"", FILE_NAME)));
	FreeFile(file);
	unlink(FILE_NAME);
}

/* ---------- shared memory ---------- */

void
gpusort_install_counts(void)
{
}

void
gpusort_request_counts(void)
{
	RequestAddinShmemSpace(hash_estimate_size(MAX_ENTRIES, sizeof(Entry)));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

static void
make_others(void)
{
	for (int kind = 0; kind < GPUSORT_KINDS; kind++)
	{
		Key			key = {InvalidOid, kind};

		(void) make_entry(&key);
	}
}

void
gpusort_make_counts(void)
{
	HASHCTL		control = {.keysize = sizeof(Key), .entrysize = sizeof(Entry)};

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	table = ShmemInitHash("gpusort sorts", MAX_ENTRIES, MAX_ENTRIES, &control,
						  HASH_ELEM | HASH_BLOBS);
	LWLockRelease(AddinShmemInitLock);
	if (IsUnderPostmaster)
		return;
	make_others();
	on_shmem_exit(write_file, (Datum) 0);
	read_file();
}

static bool
is_of(const Entry *entry, Oid database)
{
	return !OidIsValid(database) || entry->counts.key.database == database;
}

/* Deletes the counts of a database, or all if it is InvalidOid. */
static void
drop(Oid database)
{
	HASH_SEQ_STATUS scan;
	Entry	   *entry;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
		if (is_of(entry, database))
			hash_search(table, &entry->counts.key, HASH_REMOVE, NULL);
	LWLockRelease(lock);
}

static void
end_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT)
		return;
	if (event == XACT_EVENT_COMMIT && OidIsValid(dropped))
		drop(dropped);
	dropped = InvalidOid;
}

/*
 * When its object access hook is called, DROP DATABASE can still fail.  So the counts are deleted
 * at commit.
 */
void
gpusort_drop_counts(Oid database)
{
	static bool is_registered = false;

	if (!gpusort_has_counts())
		return;
	if (!is_registered)
		RegisterXactCallback(end_transaction, NULL);
	is_registered = true;
	dropped = database;
}

bool
gpusort_has_counts(void)
{
	return table != NULL;
}

/* ---------- counting ---------- */

static bool
add_to_entry(Entry *entry, const GpuSortTally *tally)
{
	if (entry == NULL)
		return false;
	SpinLockAcquire(&entry->mutex);
	gpusort_tally_add(&entry->counts.tally, tally);
	SpinLockRelease(&entry->mutex);
	return true;
}

void
gpusort_count(GpuSortKind kind, const GpuSortTally *tally)
{
	Key			key = {MyDatabaseId, kind};
	bool		added;

	if (table == NULL || !OidIsValid(MyDatabaseId))
		return;
	LWLockAcquire(lock, LW_SHARED);
	added = add_to_entry(find_entry(&key), tally);
	LWLockRelease(lock);
	if (added)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	(void) add_to_entry(make_entry(&key), tally);
	LWLockRelease(lock);
}

bool
gpusort_read_counts(Oid database, GpuSortKind kind, GpuSortTally *tally, TimestampTz *since)
{
	Key			key = {database, kind};
	Entry	   *entry;

	LWLockAcquire(lock, LW_SHARED);
	entry = hash_search(table, &key, HASH_FIND, NULL);
	if (entry != NULL)
	{
		SpinLockAcquire(&entry->mutex);
		*tally = entry->counts.tally;
		*since = entry->counts.since;
		SpinLockRelease(&entry->mutex);
	}
	LWLockRelease(lock);
	return entry != NULL && (OidIsValid(database) || tally->places[GPUSORT_TALLY_SORTS] > 0);
}

/* Returns the databases for which there are counts. */
static List *
counted_databases(void)
{
	List	   *databases = NIL;
	HASH_SEQ_STATUS scan;
	Entry	   *entry;

	LWLockAcquire(lock, LW_SHARED);
	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
		if (OidIsValid(entry->counts.key.database))
			databases = list_append_unique_oid(databases, entry->counts.key.database);
	LWLockRelease(lock);
	return databases;
}

/* Deletes the counts of databases that no longer exist. */
static void
drop_unknown(void)
{
	List	   *databases = counted_databases();
	ListCell   *cell;

	foreach(cell, databases)
		if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(lfirst_oid(cell))))
			drop(lfirst_oid(cell));
	list_free(databases);
}

void
gpusort_reset_counts(Oid database)
{
	TimestampTz now = GetCurrentTimestamp();
	HASH_SEQ_STATUS scan;
	Entry	   *entry;

	if (!OidIsValid(database))
		drop_unknown();
	LWLockAcquire(lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (!is_of(entry, database))
			continue;
		memset(&entry->counts.tally, 0, sizeof(entry->counts.tally));
		entry->counts.since = now;
	}
	LWLockRelease(lock);
}

#endif							/* !GPUSORT_HAS_STATISTICS_KINDS */
