/*
 * load_statement.c
 *		COPY FROM statements; see load_statement.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/copyfrom_internal.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "load/load_columns.h"
#include "load/load_indexes.h"
#include "load/load_statement.h"
#include "pg_compat/copy.h"

/*
 * Functions called why_... return why a statement is left to PostgreSQL, or NULL.
 */

/* What the rows are in. */
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

static bool
has_insert_triggers(const TriggerDesc *triggers)
{
	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_instead_row || triggers->trig_insert_before_statement ||
		 triggers->trig_insert_after_statement || triggers->trig_insert_new_table);
}

static const char *
why_not_table(Relation table)
{
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return "the table is partitioned";
	if (table->rd_rel->relkind != RELKIND_RELATION || RELATION_IS_OTHER_TEMP(table))
		return "this is not a table to copy into";
	if (table->rd_rel->relispartition)
		return "the table is a partition";
	if (table->rd_tableam != GetHeapamTableAmRoutine())
		return "the table has another access method than heap";
	if (IsCatalogRelation(table) || RelationIsUsedAsCatalogTable(table))
		return "the table is a catalog";
	if (has_insert_triggers(table->trigdesc))
		return "the table has triggers for inserts";
	return NULL;
}

/* There must be no constraints but NOT NULL, and no generated columns. */
static const char *
why_not_constraints(Relation table)
{
	TupleDesc	desc = RelationGetDescr(table);

	if (desc->constr != NULL && desc->constr->num_check > 0)
		return "the table has CHECK constraints";
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attgenerated != '\0')
			return psprintf("column \"%s\" is generated", NameStr(TupleDescAttr(desc, i)->attname));
	}
	return NULL;
}

static const char *
why_not_columns(const GpuSortLoadStatement *load)
{
	TupleDesc	desc = RelationGetDescr(load->table);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		bool		copied = list_member_int(load->attnums, i + 1);

		if (att->attisdropped)
			continue;
		if (copied && !gpusort_load_type_is_known(att->atttypid))
			return psprintf("column \"%s\" is of type %s", NameStr(att->attname), format_type_be(att->atttypid));
		if (!copied && build_column_default(load->table, i + 1) != NULL)
			return psprintf("column \"%s\" needs its default", NameStr(att->attname));
	}
	return load->attnums != NIL ? NULL : "no columns are copied";
}

/* ---------- the options ---------- */

static void
fill_dialect(const CopyFormatOptions *options, gs_dialect *dialect)
{
	memset(dialect, 0, sizeof(*dialect));
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
	gs_dialect	dialect;

	if (!gpusort_copy_format_is_known(options) || gpusort_copy_format_is_binary(options))
		return "the format is neither text nor CSV";
	if (strlen(options->null_print) >= GPUSORT_LOAD_NULL_BYTES)
		return "the null marker is long";
	fill_dialect(options, &dialect);
	return gs_dialect_supported(&dialect) ? NULL : "delimiter, quote and escape can be taken for one another";
}

static const char *
why_not_options(const CopyFormatOptions *options)
{
	int			encoding = options->file_encoding >= 0 ? options->file_encoding : pg_get_client_encoding();

	if (options->freeze)
		return "FREEZE";
	if (gpusort_copy_has_default_marker(options))
		return "DEFAULT";
	if (options->header_line != COPY_HEADER_FALSE && options->header_line != COPY_HEADER_TRUE)
		return "HEADER MATCH";
	if (encoding != GetDatabaseEncoding())
		return "the input is not in the encoding of the database";
	return NULL;
}

/* ---------- all of it ---------- */

static const char *
why_not_load(GpuSortLoadStatement *load)
{
	Relation	table = load->table;
	const char *why = why_not_insert(table);

	if (why != NULL)
		return why;
	load->attnums = CopyGetAttnums(RelationGetDescr(table), table, load->stmt->attlist);
	ProcessCopyOptions(load->pstate, &load->options, true, load->stmt->options);
	if ((why = why_not_format(&load->options)) != NULL || (why = why_not_options(&load->options)) != NULL ||
		(why = why_not_table(table)) != NULL || (why = why_not_constraints(table)) != NULL ||
		(why = why_not_columns(load)) != NULL)
		return why;
	return gpusort_load_indexes_are_ours(table) ? NULL : "the indexes can't be built when the rows are there";
}

static const char *
why_not_statement(const CopyStmt *stmt)
{
	if (stmt->relation == NULL)
		return "there is no table";
	if (stmt->whereClause != NULL)
		return "WHERE";
	return XactReadOnly ? "the transaction is read-only" : why_not_source(stmt);
}

void
gpusort_load_left(const char *why)
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
		{
			gpusort_note_inserted_columns(pstate, load->table, load->attnums);
			return true;
		}
		table_close(load->table, NoLock);
	}
	gpusort_load_left(why);
	return false;
}

GpuSortLoadTask *
gpusort_load_task(const GpuSortLoadStatement *load, CopyFromState copy)
{
	GpuSortLoadTask *task = palloc0(gpusort_load_task_bytes(list_length(load->attnums)));
	ListCell   *lc;

	task->table = RelationGetRelid(load->table);
	task->indexed = RelationGetIndexList(load->table) != NIL;
	fill_dialect(&copy->opts, &task->dialect);
	task->null_length = strlen(copy->opts.null_print);
	strcpy(task->null_print, copy->opts.null_print);
	foreach(lc, load->attnums)
	{
		int			attnum = lfirst_int(lc);

		task->fields[task->nfields++] = (GpuSortLoadField) {
			.attnum = attnum,
			.force_null = copy->opts.force_null_flags[attnum - 1],
			.force_not_null = copy->opts.force_notnull_flags[attnum - 1]
		};
	}
	return task;
}
