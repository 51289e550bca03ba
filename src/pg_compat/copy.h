/*
 * copy.h
 *		Differences of PostgreSQL's versions: COPY, and the receiver that fills materialized views.
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
 * 19: one field has the format, and there are more formats.
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

/* Returns whether the format is one that all versions have: text, CSV or binary. */
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
 *
 * Returns how many records the header has.
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
 * Returns the table that a receiver of REFRESH MATERIALIZED VIEW fills.  The receiver's struct is
 * private to the server; the table's OID is the first field behind the public ones in all versions.
 */
static inline Oid
gpusort_transient_table(const DestReceiver *receiver)
{
	Assert(receiver->mydest == DestTransientRel);
	return *(const Oid *) (receiver + 1);
}

/*
 * 16: a marker can stand for a column's default.
 *
 * Returns the marker; NULL if there is none.
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
 * 16: defaults are found by their columns.
 *
 * Returns where the default of a column is that is not copied and has one.
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
 * 18: generated columns may be virtual (not stored); constraints may be not enforced.
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

/*
 * Returns an expression over a table's columns, with virtual columns replaced by their generation
 * expressions.
 */
static inline Node *
gpusort_expand_virtual_columns(Node *expression, Relation table)
{
#if PG_VERSION_NUM >= 180000
	return expand_generated_columns_in_expr(expression, table, 1);
#else
	return expression;
#endif
}

/* Returns the generation expression of a virtual column; before 18 there are no such columns. */
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
 * 18: a line "\." does not end CSV any more.
 */
static inline bool
gpusort_copy_csv_has_end_marker(void)
{
	return PG_VERSION_NUM < 180000;
}

/*
 * 16: permissions are kept in a list apart from the range table.
 *
 * Notes that INSERT on these columns must be permitted.
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
		permissions->insertedCols =
			bms_add_member(permissions->insertedCols,
						   lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber);
}

/*
 * 19: the replication origin is in a struct.
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
