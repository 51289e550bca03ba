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
#include "utils/rel.h"
#include "utils/rls.h"

#include "load/load_columns.h"
#include "load/load_indexes.h"
#include "load/load_statement.h"
#include "pg_compat/copy.h"

/* May the user read what the rows are in? */
static bool
may_read(const CopyStmt *stmt)
{
	if (stmt->filename == NULL)
		return whereToSendOutput == DestRemote;
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM);
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES) && is_absolute_path(stmt->filename);
}

/* ---------- the table ---------- */

static bool
may_insert(Relation table)
{
	return ExecutorCheckPerms_hook == NULL &&
		pg_class_aclcheck(RelationGetRelid(table), GetUserId(), ACL_INSERT) == ACLCHECK_OK &&
		check_enable_rls(RelationGetRelid(table), InvalidOid, true) != RLS_ENABLED;
}

static bool
has_insert_triggers(const TriggerDesc *triggers)
{
	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_insert_instead_row || triggers->trig_insert_before_statement ||
		 triggers->trig_insert_after_statement || triggers->trig_insert_new_table);
}

static bool
table_is_plain(Relation table)
{
	return table->rd_rel->relkind == RELKIND_RELATION && !table->rd_rel->relispartition &&
		table->rd_tableam == GetHeapamTableAmRoutine() && !IsCatalogRelation(table) &&
		!RelationIsUsedAsCatalogTable(table) && !RELATION_IS_OTHER_TEMP(table) &&
		!has_insert_triggers(table->trigdesc);
}

/* Are there no constraints but NOT NULL, and no generated columns? */
static bool
constraints_are_ours(Relation table)
{
	TupleDesc	desc = RelationGetDescr(table);

	if (desc->constr != NULL && desc->constr->num_check > 0)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attgenerated != '\0')
			return false;
	}
	return true;
}

static bool
columns_are_ours(const GpuSortLoadStatement *load)
{
	TupleDesc	desc = RelationGetDescr(load->table);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		if (list_member_int(load->attnums, i + 1) ? !gpusort_load_type_is_known(att->atttypid)
			: build_column_default(load->table, i + 1) != NULL)
			return false;
	}
	return load->attnums != NIL;
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

static bool
options_are_ours(const CopyFormatOptions *options)
{
	int			encoding = options->file_encoding >= 0 ? options->file_encoding : pg_get_client_encoding();
	gs_dialect	dialect;

	if (!gpusort_copy_format_is_known(options) || gpusort_copy_format_is_binary(options) ||
		options->freeze || gpusort_copy_has_default_marker(options) ||
		(options->header_line != COPY_HEADER_FALSE && options->header_line != COPY_HEADER_TRUE) ||
		encoding != GetDatabaseEncoding() || strlen(options->null_print) >= GPUSORT_LOAD_NULL_BYTES)
		return false;
	fill_dialect(options, &dialect);
	return gs_dialect_supported(&dialect);
}

/* ---------- all of it ---------- */

static bool
load_is_ours(GpuSortLoadStatement *load)
{
	Relation	table = load->table;

	if (!may_insert(table))
		return false;
	load->attnums = CopyGetAttnums(RelationGetDescr(table), table, load->stmt->attlist);
	ProcessCopyOptions(load->pstate, &load->options, true, load->stmt->options);
	return options_are_ours(&load->options) && table_is_plain(table) && constraints_are_ours(table) &&
		columns_are_ours(load) && gpusort_load_indexes_are_ours(table);
}

bool
gpusort_load_is_ours(const CopyStmt *stmt, ParseState *pstate, GpuSortLoadStatement *load)
{
	if (!stmt->is_from || stmt->relation == NULL || stmt->whereClause != NULL || XactReadOnly || !may_read(stmt))
		return false;
	memset(load, 0, sizeof(*load));
	load->stmt = stmt;
	load->pstate = pstate;
	load->table = table_openrv(stmt->relation, RowExclusiveLock);
	if (load_is_ours(load))
	{
		gpusort_note_inserted_columns(pstate, load->table, load->attnums);
		return true;
	}
	table_close(load->table, NoLock);
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
