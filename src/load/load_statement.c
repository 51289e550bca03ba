/*
 * load_statement.c
 *		COPY FROM statements: whether they are ours, and what they ask for; see load.h and
 *		load_statement_private.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "load/load.h"
#include "load/load_partitions_private.h"
#include "load/load_input_private.h"
#include "load/load_statement_private.h"
#include "pg_compat/copy.h"

/*
 * Functions called why_... return why a statement is left to PostgreSQL, or NULL.
 */

/* Looks at where the rows come from. */
static const char *
why_not_source(const CopyStmt *stmt)
{
	if (stmt->filename == NULL)
		return whereToSendOutput == DestRemote ? NULL : "its rows do not come from a client";
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM) ? NULL
			: "the user may not run programs";
	if (!is_absolute_path(stmt->filename))
		return "the name of the file is relative";
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES) ? NULL : "the user may not read files";
}

/* ---------- the table ---------- */

static const char *
why_not_insert(Relation table)
{
	if (ExecutorCheckPerms_hook != NULL)
		return "an extension checks permissions";
	if (pg_class_aclcheck(RelationGetRelid(table), GetUserId(), ACL_INSERT) != ACLCHECK_OK)
		return "the user may not insert into all columns";
	if (check_enable_rls(RelationGetRelid(table), InvalidOid, true) == RLS_ENABLED)
		return "the table has row security";
	return NULL;
}

static const char *
why_not_table(Relation table)
{
	bool		is_partitioned = table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;

	if ((table->rd_rel->relkind != RELKIND_RELATION && !is_partitioned) ||
		RELATION_IS_OTHER_TEMP(table))
		return "this is not a table to copy into";
	if (!is_partitioned && table->rd_tableam != GetHeapamTableAmRoutine())
		return "the table has another access method than heap";
	if (IsCatalogRelation(table) || RelationIsUsedAsCatalogTable(table))
		return "the table is a catalog";
	if (gpusort_load_has_triggers(table))
		return "the table has triggers for inserts";
	return gpusort_load_why_not_routed(table);
}

static const char *
why_not_columns(const GpuSortLoadStatement *load)
{
	TupleDesc	desc = RelationGetDescr(load->table);
	bool		binary = gpusort_copy_format_is_binary(&load->options);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (list_member_int(load->attnums, i + 1) &&
			!gpusort_load_type_is_known(att->atttypid, binary))
			return psprintf("column \"%s\" is of type %s", NameStr(att->attname), format_type_be(att->atttypid));
	}
	return load->attnums != NIL ? NULL : "no columns are copied";
}

/* ---------- the options ---------- */

static void
fill_dialect(const CopyFormatOptions *options, gs_dialect *dialect)
{
	memset(dialect, 0, sizeof(*dialect));
	dialect->binary = gpusort_copy_format_is_binary(options);
	if (dialect->binary)
		return;
	dialect->csv = gpusort_copy_format_is_csv(options);
	dialect->delimiter = options->delim[0];
	if (dialect->csv)
	{
		dialect->quote = options->quote[0];
		dialect->escape = options->escape[0];
	}
	dialect->csv_end_marker = gpusort_copy_csv_has_end_marker();
}

static const char *
why_not_format(const CopyFormatOptions *options)
{
	const char *marker = gpusort_copy_default_marker(options);
	gs_dialect	dialect;

	if (!gpusort_copy_format_is_known(options))
		return "the format is not text, CSV or binary";
	if (gpusort_copy_format_is_binary(options))
		return NULL;
	if (strlen(options->null_print) >= GPUSORT_LOAD_NULL_BYTES ||
		(marker != NULL && strlen(marker) >= GPUSORT_LOAD_NULL_BYTES))
		return "the marker of nulls or defaults is long";
	if (marker != NULL && marker[0] == '\0')
		return "the marker of defaults is empty";
	fill_dialect(options, &dialect);
	return gs_dialect_supported(&dialect) ? NULL : "delimiter, quote and escape can be taken for one another";
}

/*
 * Returns the encoding of the text in an input.  In the binary format it is that of the client,
 * whatever the option ENCODING says, because the receive functions convert it.
 */
static int
input_encoding(const CopyFormatOptions *options)
{
	return options->file_encoding >= 0 && !gpusort_copy_format_is_binary(options)
		? options->file_encoding : pg_get_client_encoding();
}

static const char *
why_not_options(const CopyFormatOptions *options)
{
	gs_dialect	dialect;

	if (gpusort_copy_header_records(options) > GPUSORT_LOAD_HEADER_RECORDS)
		return "the header is long";
	fill_dialect(options, &dialect);
	return gpusort_load_why_not_encoding(input_encoding(options), &dialect);
}

/* ---------- the whole statement ---------- */

/*
 * Returns WHERE's conditions as COPY makes them, or NIL if they can't be planned here.  If
 * something is wrong with them, raises the same error as COPY.
 */
static List *
transform_where(ParseState *pstate, ParseNamespaceItem *item, Node *where)
{
	Node	   *condition;

	addNSItemToQuery(pstate, item, false, true, true);
	/* the statement may be a cached one, which must not be changed */
	condition = transformExpr(pstate, copyObject(where), EXPR_KIND_COPY_WHERE);
	condition = coerce_to_boolean(pstate, condition, "WHERE");
	assign_expr_collations(pstate, condition);
	if (!gpusort_load_planning_is_safe(condition))
		return NIL;
	condition = eval_const_expressions(NULL, condition);
	return make_ands_implicit(canonicalize_qual((Expr *) condition, false));
}

static bool
has_generated_columns(Relation table)
{
	TupleDesc	desc = RelationGetDescr(table);

	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attgenerated != '\0')
			return true;
	}
	return false;
}

static const char *
why_not_where(GpuSortLoadStatement *load, ParseNamespaceItem *item)
{
	Relation	table = load->table;

	if (load->stmt->whereClause == NULL)
		return NULL;
	if (pg_class_aclcheck(RelationGetRelid(table), GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		return "the user may not read all columns";
	if (has_generated_columns(table))
		return "WHERE, and the table has generated columns";
	load->where = transform_where(load->pstate, item, load->stmt->whereClause);
	load->computing.anything = true;
	return load->where != NIL && gpusort_load_expression_is_safe((Node *) load->where) ? NULL
		: "WHERE has functions of others, or ones that depend on more than a row";
}

static const char *
why_not_load(GpuSortLoadStatement *load)
{
	Relation	table = load->table;
	const char *why = why_not_insert(table);
	ParseNamespaceItem *item;
	bool		marker;

	if (why != NULL || (why = why_not_table(table)) != NULL)
		return why;
	item = addRangeTableEntryForRelation(load->pstate, table, RowExclusiveLock, NULL, false, false);
	if ((why = why_not_where(load, item)) != NULL)
		return why;
	load->attnums = CopyGetAttnums(RelationGetDescr(table), table, load->stmt->attlist);
	gpusort_note_inserted_columns(item, load->attnums);
	ProcessCopyOptions(load->pstate, &load->options, true, load->stmt->options);
	marker = gpusort_copy_default_marker(&load->options) != NULL;
	if ((why = why_not_format(&load->options)) != NULL ||
		(why = why_not_options(&load->options)) != NULL || (why = why_not_columns(load)) != NULL ||
		(why = gpusort_load_why_not_computed(table, load->attnums, marker,
											 &load->computing)) != NULL)
		return why;
	return gpusort_load_indexes_are_ours(table) ? NULL
		: "the indexes can't be filled when the rows are there";
}

static const char *
why_not_statement(const CopyStmt *stmt)
{
	if (stmt->relation == NULL)
		return "there is no table";
	return XactReadOnly ? "the transaction is read-only" : why_not_source(stmt);
}

void
gpusort_load_report_left(const char *why)
{
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves COPY FROM to PostgreSQL: %s", why)));
}

bool
gpusort_load_is_ours(const CopyStmt *stmt, ParseState *pstate, GpuSortLoadStatement *load)
{
	const char *why;

	if (!stmt->is_from)
		return false;
	why = why_not_statement(stmt);
	if (why == NULL)
	{
		memset(load, 0, sizeof(*load));
		load->stmt = stmt;
		load->pstate = pstate;
		load->table = table_openrv(stmt->relation, RowExclusiveLock);
		why = why_not_load(load);
		if (why == NULL)
			return true;
		table_close(load->table, NoLock);
	}
	gpusort_load_report_left(why);
	return false;
}

static void
fill_fields(const GpuSortLoadStatement *load, CopyFromState copy, GpuSortLoadTask *task)
{
	ListCell   *lc;

	foreach(lc, load->attnums)
	{
		int			attnum = lfirst_int(lc);

		task->fields[task->nfields++] = (GpuSortLoadField) {
			.attnum = attnum,
			.force_null = copy->opts.force_null_flags[attnum - 1],
			.force_not_null = copy->opts.force_notnull_flags[attnum - 1]
		};
	}
}

GpuSortLoadTask *
gpusort_load_task(const GpuSortLoadStatement *load, CopyFromState copy)
{
	const char *where = load->where != NIL ? nodeToString(load->where) : NULL;
	const char *marker = gpusort_copy_default_marker(&copy->opts);
	Size		header = offsetof(GpuSortLoadTask, fields) +
		list_length(load->attnums) * sizeof(GpuSortLoadField);
	Size		bytes = header + (where != NULL ? strlen(where) + 1 : 0);
	GpuSortLoadTask *task = palloc0(bytes);

	task->table = RelationGetRelid(load->table);
	task->partitioned = load->table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	task->indexed = !task->partitioned && RelationGetIndexList(load->table) != NIL;
	fill_dialect(&copy->opts, &task->dialect);
	task->dialect.nfields = list_length(load->attnums);
	task->encoding = input_encoding(&copy->opts);
	task->conversion = copy->need_transcoding && !task->dialect.binary ? copy->conversion_proc
		: InvalidOid;
	task->null_length = strlen(copy->opts.null_print);
	strcpy(task->null_print, copy->opts.null_print);
	if (marker != NULL)
	{
		task->default_length = strlen(marker);
		strcpy(task->default_print, marker);
	}
	task->computing = load->computing.anything;
	task->sequences = load->computing.sequences;
	task->bytes = bytes;
	if (where != NULL)
	{
		task->where = header;
		strcpy((char *) task + header, where);
	}
	fill_fields(load, copy, task);
	return task;
}
