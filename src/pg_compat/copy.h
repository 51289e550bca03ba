/*
 * copy.h
 *		Differences of PostgreSQL's versions: COPY and what fills materialized views.
 */
#ifndef GPUSORT_PG_COMPAT_COPY_H
#define GPUSORT_PG_COMPAT_COPY_H

#include "postgres.h"

#include "access/sysattr.h"
#include "commands/copy.h"
#include "nodes/bitmapset.h"
#include "parser/parse_relation.h"
#include "replication/origin.h"

/*
 * 19: one field has the format, of which there are more now.
 */
static inline bool
gpusort_copy_format_is_binary(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_BINARY;
#else
	return options->binary;
#endif
}

static inline bool
gpusort_copy_format_is_csv(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_CSV;
#else
	return options->csv_mode;
#endif
}

/* Text, CSV or binary? */
static inline bool
gpusort_copy_format_is_known(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_TEXT || options->format == COPY_FORMAT_CSV ||
		options->format == COPY_FORMAT_BINARY;
#else
	return true;
#endif
}

/*
 * The table that a receiver of REFRESH MATERIALIZED VIEW fills.  Its struct is the server's own; this is
 * the first field behind the public ones in all versions.
 */
static inline Oid
gpusort_transient_table(const DestReceiver *receiver)
{
	Assert(receiver->mydest == DestTransientRel);
	return *(const Oid *) (receiver + 1);
}

/*
 * 16: a marker can stand for a column's default.
 */
static inline bool
gpusort_copy_has_default_marker(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 160000
	return options->default_print != NULL;
#else
	return false;
#endif
}

/*
 * 18: CSV has no end marker but the end.
 */
static inline bool
gpusort_copy_csv_has_end_marker(void)
{
	return PG_VERSION_NUM < 180000;
}

/*
 * 16: permissions have a list of their own.
 */
static inline void
gpusort_note_inserted_columns(ParseState *pstate, Relation table, List *attnums)
{
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, table, RowExclusiveLock, NULL, false, false);
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *permissions = item->p_perminfo;
#else
	RangeTblEntry *permissions = item->p_rte;
#endif
	ListCell   *lc;

	permissions->requiredPerms = ACL_INSERT;
	foreach(lc, attnums)
		permissions->insertedCols = bms_add_member(permissions->insertedCols,
												   lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber);
}

/*
 * 19: the origin of changes is in a struct.
 */
static inline bool
gpusort_has_replication_origin(void)
{
#if PG_VERSION_NUM >= 190000
	return replorigin_xact_state.origin != InvalidReplOriginId;
#else
	return replorigin_session_origin != InvalidRepOriginId;
#endif
}

#endif							/* GPUSORT_PG_COMPAT_COPY_H */
