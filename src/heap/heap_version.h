/*
 * heap_version.h
 *		A version of a row, as a sort keeps it.
 *
 * A sort's rows are MinimalTuples, which are heap tuples without the first bytes of their
 * headers.  Those say which transactions can see a version, so they are kept, too:
 *
 *		t_len | xvac | flags | t_infomask2 ... data | xmin xmax [t_self t_ctid]
 *
 * cmin, cmax or xvac, and the flags, lie in what a MinimalTuple leaves unused; the rest follows
 * the data and is counted in t_len, which no code minds that looks at columns.  TIDs are
 * there only of versions that a chain of updates may lead to or from.
 */
#ifndef GPUSORT_HEAP_VERSION_H
#define GPUSORT_HEAP_VERSION_H

#include "access/htup_details.h"

/* Flags. */
#define GPUSORT_VERSION_HAS_TIDS	1

/* What follows the data. */
typedef struct GpuSortVersionTids
{
	ItemPointerData self;
	ItemPointerData ctid;
} GpuSortVersionTids;

#define GPUSORT_VERSION_XIDS_BYTES	(2 * sizeof(TransactionId))
#define GPUSORT_VERSION_MAX_BYTES	(GPUSORT_VERSION_XIDS_BYTES + sizeof(GpuSortVersionTids))

/* Bytes in front of what a MinimalTuple and a heap tuple have in common. */
#define VERSION_COMMON		offsetof(HeapTupleHeaderData, t_infomask2)
#define VERSION_FLAGS		(offsetof(HeapTupleHeaderData, t_ctid) + sizeof(CommandId))

StaticAssertDecl(VERSION_FLAGS + sizeof(uint16) <= VERSION_COMMON, "no room in a MinimalTuple's header");
StaticAssertDecl(MINIMAL_TUPLE_OFFSET == GPUSORT_VERSION_XIDS_BYTES, "a MinimalTuple begins elsewhere");

/*
 * Make a heap tuple, with GPUSORT_VERSION_MAX_BYTES more behind it, one whose MinimalTuple is
 * a stored version: its header is rearranged.  tids: NULL if they need not be kept.
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

static inline bool
gpusort_version_has_tids(const MinimalTuple version)
{
	uint16		flags;

	memcpy(&flags, (char *) version - MINIMAL_TUPLE_OFFSET + VERSION_FLAGS, sizeof(flags));
	return (flags & GPUSORT_VERSION_HAS_TIDS) != 0;
}

/* Bytes of the heap tuple. */
static inline uint32
gpusort_version_length(const MinimalTuple version)
{
	Size		behind = GPUSORT_VERSION_XIDS_BYTES +
		(gpusort_version_has_tids(version) ? sizeof(GpuSortVersionTids) : 0);

	return version->t_len + MINIMAL_TUPLE_OFFSET - behind;
}

/* Its TIDs, which it has. */
static inline void
gpusort_version_tids(const MinimalTuple version, GpuSortVersionTids *tids)
{
	memcpy(tids, (char *) version + version->t_len - sizeof(*tids), sizeof(*tids));
}

/* Put the heap tuple, of so many bytes, elsewhere; its t_ctid is left for the caller. */
static inline void
gpusort_version_unpack(const MinimalTuple version, uint32 length, char *header)
{
	const char *stored = (const char *) version - MINIMAL_TUPLE_OFFSET;

	memcpy(header, stored + length, GPUSORT_VERSION_XIDS_BYTES);
	memcpy(header + GPUSORT_VERSION_XIDS_BYTES, stored + offsetof(HeapTupleHeaderData, t_ctid),
		   sizeof(CommandId));
	memcpy(header + VERSION_COMMON, stored + VERSION_COMMON, length - VERSION_COMMON);
}

#endif							/* GPUSORT_HEAP_VERSION_H */
