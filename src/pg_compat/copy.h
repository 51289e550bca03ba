/*
 * copy.h
 *		Differences of PostgreSQL's versions: COPY and what fills materialized views.
 */
#ifndef GPUSORT_PG_COMPAT_COPY_H
#define GPUSORT_PG_COMPAT_COPY_H

#include "postgres.h"

#include "access/sysattr.h"
#include "access/tupdesc.h"
#include "catalog/pg_attribute.h"
#include "commands/copy.h"
#include "commands/copyfrom_internal.h"
#include "nodes/bitmapset.h"
#include "parser/parse_relation.h"
#include "replication/origin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"

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
 * 19: a header can have several records.
 */
static inline int
gpusort_copy_header_records(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->header_line == COPY_HEADER_MATCH ? 1 : options->header_line;
#else
	return options->header_line != COPY_HEADER_FALSE;
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
static inline const char *
gpusort_copy_default_marker(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 160000
	return options->default_print;
#else
	return NULL;
#endif
}

/*
 * 16: defaults are found by their columns.  Where is the one of a column that is not copied?
 */
static inline ExprState **
gpusort_copy_default(CopyFromState copy, int attribute)
{
#if PG_VERSION_NUM >= 160000
	return &copy->defexprs[attribute];
#else
	int			i = 0;

	while (copy->defmap[i] != attribute)
		i++;
	return &copy->defexprs[i];
#endif
}

/*
 * 18: generated columns need not be stored; constraints need not be enforced.
 */
static inline bool
gpusort_column_is_virtual(Form_pg_attribute att)
{
#if PG_VERSION_NUM >= 180000
	return att->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	return false;
#endif
}

static inline bool
gpusort_check_is_enforced(const ConstrCheck *check)
{
#if PG_VERSION_NUM >= 180000
	return check->ccenforced;
#else
	return true;
#endif
}

/* An expression over a table's columns, with those that are virtual put in. */
static inline Node *
gpusort_expand_virtual_columns(Node *expression, Relation table)
{
#if PG_VERSION_NUM >= 180000
	return expand_generated_columns_in_expr(expression, table, 1);
#else
	return expression;
#endif
}

/* The expression of a virtual column, which there are from 18 on. */
static inline Node *
gpusort_generation_expression(Relation table, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	return build_generation_expression(table, attnum);
#else
	return NULL;
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
gpusort_note_inserted_columns(ParseNamespaceItem *item, List *attnums)
{
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *permissions = item->p_perminfo;
#else
	RangeTblEntry *permissions = item->p_rte;
#endif
	ListCell   *lc;

	permissions->requiredPerms |= ACL_INSERT;
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
