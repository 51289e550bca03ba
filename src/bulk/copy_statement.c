/*
 * copy_statement.c
 *		Decides which COPY TO statements are executed here, and finds what they ask for; see
 *		copy_statement.h.
 *
 * The order of the checks is that of PostgreSQL's COPY.  So an error that its functions raise here
 * is the one that COPY would have raised.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "bulk/copy_statement.h"
#include "bulk/out_target.h"
#include "pg_compat/copy.h"

/* Returns whether the user may write to the file, program or client that gets the rows. */
static bool
may_write(const CopyStmt *stmt)
{
	if (stmt->filename == NULL)
		return gpusort_out_client_is_there();
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM);
	return has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES) &&
		is_absolute_path(stmt->filename);
}

/*
 * Returns whether the query is a SELECT without INTO.  Whatever rules there are, a SELECT is
 * rewritten to one query.  The INTO of a set operation is found in its first SELECT.
 */
static bool
is_select(const Node *query)
{
	const SelectStmt *select = (const SelectStmt *) query;

	if (!IsA(query, SelectStmt))
		return false;
	while (select->op != SETOP_NONE)
		select = select->larg;
	return select->intoClause == NULL;
}

/* Returns whether the relation is a plain table, and the user may read all its rows and columns. */
static bool
may_read(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_RELATION &&
		ExecutorCheckPerms_hook == NULL &&
		pg_class_aclcheck(RelationGetRelid(relation), GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		check_enable_rls(RelationGetRelid(relation), InvalidOid, true) != RLS_ENABLED;
}

/* Returns whether all columns of FORCE_QUOTE are copied. */
static bool
quotes_what_is_copied(const GpuSortCopyStatement *copy)
{
	TupleDesc	desc = RelationGetDescr(copy->relation);
	List	   *copied = CopyGetAttnums(desc, copy->relation, copy->stmt->attlist);
	List	   *quoted;

	if (copy->options.force_quote == NIL)
		return true;
	quoted = CopyGetAttnums(desc, copy->relation, copy->options.force_quote);
	return list_difference_int(quoted, copied) == NIL;
}

static bool
options_are_ours(const CopyFormatOptions *options)
{
	return gpusort_copy_format_is_known(options) &&
		strlen(options->null_print) < GPUSORT_OUT_NULL_BYTES;
}

static bool
table_is_ours(GpuSortCopyStatement *copy)
{
	if (!may_read(copy->relation))
		return false;
	CopyGetAttnums(RelationGetDescr(copy->relation), copy->relation, copy->stmt->attlist);
	ProcessCopyOptions(copy->pstate, &copy->options, false, copy->stmt->options);
	return options_are_ours(&copy->options) && quotes_what_is_copied(copy);
}

bool
gpusort_copy_is_ours(const CopyStmt *stmt, ParseState *pstate, GpuSortCopyStatement *copy)
{
	if (stmt->is_from || stmt->whereClause != NULL || !may_write(stmt) ||
		(stmt->relation == NULL && !is_select(stmt->query)))
		return false;
	memset(copy, 0, sizeof(*copy));
	copy->stmt = stmt;
	copy->pstate = pstate;
	if (stmt->relation == NULL)
	{
		ProcessCopyOptions(pstate, &copy->options, false, stmt->options);
		return options_are_ours(&copy->options);
	}
	copy->relation = table_openrv(stmt->relation, AccessShareLock);
	if (table_is_ours(copy))
		return true;
	table_close(copy->relation, NoLock);
	return false;
}

static void
fill_format(const GpuSortCopyStatement *copy, GpuSortOutFormat *format)
{
	const CopyFormatOptions *options = &copy->options;

	memset(format, 0, sizeof(*format));
	format->messages = copy->stmt->filename == NULL;
	format->encoding = options->file_encoding >= 0 ? options->file_encoding
		: pg_get_client_encoding();
	if (gpusort_copy_format_is_binary(options))
	{
		format->style = GPUSORT_OUT_BINARY;
		return;
	}
	format->style = GPUSORT_OUT_TEXT;
	format->delimiter = options->delim[0];
	if (gpusort_copy_format_is_csv(options))
	{
		format->style = GPUSORT_OUT_CSV;
		format->quote = options->quote[0];
		format->escape = options->escape[0];
	}
	format->null_length = strlen(options->null_print);
	strcpy(format->null_print, options->null_print);
}

GpuSortOutColumn *
gpusort_copy_columns(const GpuSortCopyStatement *copy, TupleDesc desc, GpuSortOutFormat *format)
{
	const CopyFormatOptions *options = &copy->options;
	List	   *copied = CopyGetAttnums(desc, copy->relation, copy->stmt->attlist);
	List	   *quoted = options->force_quote == NIL ? NIL
		: CopyGetAttnums(desc, copy->relation, options->force_quote);
	GpuSortOutColumn *columns = palloc0(Max(list_length(copied), 1) * sizeof(GpuSortOutColumn));
	ListCell   *lc;

	fill_format(copy, format);
	foreach(lc, copied)
	{
		int			attnum = lfirst_int(lc);

		columns[format->ncolumns++] = (GpuSortOutColumn) {
			.type = TupleDescAttr(desc, attnum - 1)->atttypid,
			.attribute = attnum - 1,
			.binary = format->style == GPUSORT_OUT_BINARY,
			.force_quote = options->force_quote_all || list_member_int(quoted, attnum)
		};
	}
	return columns;
}
