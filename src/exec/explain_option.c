/*
 * explain_option.c
 *		EXPLAIN (GPUSORT); see exec.h.
 *
 * We look at a plan when its first node is explained.  The plan may have been made long before, but
 * the reasons given follow the current settings.
 */
#include "postgres.h"

#include "exec/exec.h"
#include "pg_compat/explain.h"

#ifdef GPUSORT_HAS_EXPLAIN_OPTIONS

#include "commands/defrem.h"

#include "plan/plan.h"

/* The state of an EXPLAIN with the option. */
typedef struct Option
{
	bool		on;
	const PlannedStmt *stmt;	/* the statement that `looks` is about; NULL: none yet */
	List	   *looks;
} Option;

static int	extension_id;

static void
set_option(ExplainState *es, DefElem *def, ParseState *pstate)
{
	Option	   *option = GetExplainExtensionState(es, extension_id);

	if (option == NULL)
	{
		option = palloc0(sizeof(Option));
		SetExplainExtensionState(es, extension_id, option);
	}
	option->on = defGetBoolean(def);
}

static void
explain_costs(const GpuSortLook *look, ExplainState *es)
{
	if (!look->has_costs || !es->costs)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Sort Cost: %.2f by PostgreSQL, %.2f by gpusort\n",
						 look->core_cost, look->cost);
		return;
	}
	ExplainPropertyFloat("PostgreSQL Sort Cost", NULL, look->core_cost, 2, es);
	ExplainPropertyFloat("GpuSort Cost", NULL, look->cost, 2, es);
}

static void
explain_look(const GpuSortLook *look, ExplainState *es)
{
	const char *setting = look->reason != NULL ? gpusort_setting_for(look->reason) : NULL;

	ExplainPropertyText("Sort For", gpusort_kind_name(look->kind), es);
	if (look->reason != NULL)
		ExplainPropertyText("Left To PostgreSQL", look->reason, es);
	explain_costs(look, es);
	if (setting != NULL)
		ExplainPropertyText("Depends On", setting, es);
}

void
gpusort_explain_sorts_of(const PlanState *node, ExplainState *es)
{
	Option	   *option = GetExplainExtensionState(es, extension_id);
	ListCell   *lc;

	if (option == NULL || !option->on || es->pstmt == NULL)
		return;
	if (option->stmt != es->pstmt)
		option->looks = gpusort_look_at_sorts(es->pstmt, true);
	option->stmt = es->pstmt;
	foreach(lc, option->looks)
	{
		const GpuSortLook *look = lfirst(lc);

		if (look->plan == node->plan)
			explain_look(look, es);
	}
}

void
gpusort_install_explain_option(void)
{
	extension_id = GetExplainExtensionId("gpusort");
	gpusort_register_explain_option("gpusort", set_option);
}

#else

void
gpusort_install_explain_option(void)
{
}

#endif							/* GPUSORT_HAS_EXPLAIN_OPTIONS */
