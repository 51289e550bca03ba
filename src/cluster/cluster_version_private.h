/*
 * cluster_version_private.h
 *		A version of a row of the old table, as the sort keeps it until it is written.
 */
#ifndef GPUSORT_CLUSTER_VERSION_PRIVATE_H
#define GPUSORT_CLUSTER_VERSION_PRIVATE_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "utils/rel.h"

/* ---------- version: a version of a row, as a sort keeps it ---------- */

/*
 * A sort's rows are MinimalTuples, which are heap tuples without the first bytes of their headers.
 * These bytes say which transactions can see a version, so we keep them as well:
 *
 * 		t_len | xvac | flags | t_infomask2 ... data | xmin xmax [t_self t_ctid]
 *
 * The field `xvac`, which may hold cmin or cmax instead, and the flags lie in bytes that a
 * MinimalTuple leaves unused.  The rest follows the data and is counted in t_len, which does not
 * disturb code that looks at columns.  TIDs are kept only for versions that a chain of updates may
 * lead to or from.
 */

/* Flags of a version. */
#define GPUSORT_VERSION_HAS_TIDS	1

/* The TIDs that may follow the data. */
typedef struct GpuSortVersionTids
{
	ItemPointerData self;
	ItemPointerData ctid;
} GpuSortVersionTids;

#define GPUSORT_VERSION_XIDS_BYTES	(2 * sizeof(TransactionId))
#define GPUSORT_VERSION_MAX_BYTES	(GPUSORT_VERSION_XIDS_BYTES + sizeof(GpuSortVersionTids))

/* Offset of what a MinimalTuple and a heap tuple have in common, and offset of the flags. */
#define VERSION_COMMON		offsetof(HeapTupleHeaderData, t_infomask2)
#define VERSION_FLAGS		(offsetof(HeapTupleHeaderData, t_ctid) + sizeof(CommandId))

StaticAssertDecl(VERSION_FLAGS + sizeof(uint16) <= VERSION_COMMON, "no room in a MinimalTuple's header");
StaticAssertDecl(MINIMAL_TUPLE_OFFSET == GPUSORT_VERSION_XIDS_BYTES, "a MinimalTuple begins elsewhere");

/*
 * Rearrange a heap tuple so that its MinimalTuple is a stored version.  There must be room for
 * GPUSORT_VERSION_MAX_BYTES behind the tuple.  `tids` is NULL if they need not be kept.
 */
static inline void
gpusort_version_pack(HeapTuple tuple, const GpuSortVersionTids *tids)
{
	char	   *header = (char *) tuple->t_data;
	uint16		flags = tids != NULL ? GPUSORT_VERSION_HAS_TIDS : 0;

	memcpy(header + tuple->t_len, header, GPUSORT_VERSION_XIDS_BYTES);
	tuple->t_len += GPUSORT_VERSION_XIDS_BYTES;
	memmove(header + offsetof(HeapTupleHeaderData, t_ctid),
			header + GPUSORT_VERSION_XIDS_BYTES, sizeof(CommandId));
	memcpy(header + VERSION_FLAGS, &flags, sizeof(flags));
	if (tids == NULL)
		return;
	memcpy(header + tuple->t_len, tids, sizeof(*tids));
	tuple->t_len += sizeof(*tids);
}

/* Returns whether a version was packed with its TIDs. */
static inline bool
gpusort_version_has_tids(const MinimalTuple version)
{
	uint16		flags;

	memcpy(&flags, (char *) version - MINIMAL_TUPLE_OFFSET + VERSION_FLAGS, sizeof(flags));
	return (flags & GPUSORT_VERSION_HAS_TIDS) != 0;
}

/* Returns the length of the heap tuple that was packed. */
static inline uint32
gpusort_version_length(const MinimalTuple version)
{
	Size		behind = GPUSORT_VERSION_XIDS_BYTES +
		(gpusort_version_has_tids(version) ? sizeof(GpuSortVersionTids) : 0);

	return version->t_len + MINIMAL_TUPLE_OFFSET - behind;
}

/* Get the TIDs of a version that has them. */
static inline void
gpusort_version_tids(const MinimalTuple version, GpuSortVersionTids *tids)
{
	memcpy(tids, (char *) version + version->t_len - sizeof(*tids), sizeof(*tids));
}

/*
 * Restore the heap tuple, of `length` bytes, at `header`.  Its t_ctid is left for the caller to
 * set.
 */
static inline void
gpusort_version_unpack(const MinimalTuple version, uint32 length, char *header)
{
	const char *stored = (const char *) version - MINIMAL_TUPLE_OFFSET;

	memcpy(header, stored + length, GPUSORT_VERSION_XIDS_BYTES);
	memcpy(header + GPUSORT_VERSION_XIDS_BYTES, stored + offsetof(HeapTupleHeaderData, t_ctid),
		   sizeof(CommandId));
	memcpy(header + VERSION_COMMON, stored + VERSION_COMMON, length - VERSION_COMMON);
}

/* ---------- keys: the rows that versions are sorted as, if the index has expressions ---------- */

/*
 * The value of an expression must be at hand whenever rows are compared, also after they were
 * spilled.  So the rows of such a sort have these columns:
 *
 * 		version (a bytea) | first key | second key | ...
 *
 * The version comes first, so that it is found without looking at anything else.
 */

typedef struct GpuSortClusterKeys GpuSortClusterKeys;

/* The column of the index's nth key, from 0 on. */
#define GPUSORT_CLUSTER_KEY_ATTNO(n)	((AttrNumber) ((n) + 2))

/* Returns whether the versions are sorted as such rows, because the index has expressions. */
extern bool gpusort_cluster_has_keys(Relation index);

/* Returns the descriptor of such rows, allocated in the current memory context. */
extern TupleDesc gpusort_cluster_keys_desc(Relation heap, Relation index);

/*
 * Begin making rows, with memory of the current context. gpusort_cluster_keys_end() releases what
 * does not go away with the context.
 */
extern GpuSortClusterKeys *gpusort_cluster_keys_begin(Relation heap, Relation index);
extern void gpusort_cluster_keys_end(GpuSortClusterKeys *keys);

/* Compute the keys of a tuple of the table, for the next call of gpusort_cluster_keys_row(). */
extern void gpusort_cluster_keys_compute(GpuSortClusterKeys *keys, HeapTuple tuple);

/*
 * Returns the row that consists of the keys just computed and of the tuple's version, which was
 * packed (cluster_version_private.h).  The caller has to clear the slot.
 */
extern TupleTableSlot *gpusort_cluster_keys_row(GpuSortClusterKeys *keys, HeapTuple packed);

/* Returns whether workers may compute the keys. */
extern bool gpusort_cluster_keys_are_safe(Relation index);

/* Returns the version in such a row. */
static inline MinimalTuple
gpusort_cluster_keyed_version(const void *row)
{
	const HeapTupleHeader header = (HeapTupleHeader) ((char *) row - MINIMAL_TUPLE_OFFSET);

	return (MinimalTuple) ((char *) header + header->t_hoff + VARHDRSZ);
}

#endif							/* GPUSORT_CLUSTER_VERSION_PRIVATE_H */
