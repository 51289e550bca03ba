/*
 * load_safe.c
 *		What may be called while rows are loaded; see load_safe.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "load/load_safe.h"

/* Functions that depend on nothing but their arguments and settings, or look up an enum's labels. */
static const Oid known_functions[] = {
	F_BOOLIN, F_BYTEAIN, F_CHARIN, F_NAMEIN, F_INT2IN, F_INT4IN, F_INT8IN, F_TEXTIN, F_VARCHARIN,
	F_BPCHARIN, F_OIDIN, F_TIDIN, F_JSON_IN, F_JSONB_IN, F_POINT_IN, F_LSEG_IN, F_PATH_IN, F_BOX_IN,
	F_POLY_IN, F_LINE_IN, F_CIRCLE_IN, F_FLOAT4IN, F_FLOAT8IN, F_DATE_IN, F_TIME_IN, F_TIMETZ_IN,
	F_TIMESTAMP_IN, F_TIMESTAMPTZ_IN, F_INTERVAL_IN, F_BIT_IN, F_VARBIT_IN, F_NUMERIC_IN, F_UUID_IN,
	F_INET_IN, F_CIDR_IN, F_MACADDR_IN, F_MACADDR8_IN, F_CASH_IN, F_TSVECTORIN, F_TSQUERYIN, F_PG_LSN_IN,
	F_ENUM_IN
};

/* ---------- types ---------- */

static bool
function_is_known(Oid function)
{
	for (int i = 0; i < lengthof(known_functions); i++)
	{
		if (known_functions[i] == function)
			return func_parallel(function) == PROPARALLEL_SAFE;
	}
	return false;
}

/* A range compares its bounds by an operator class, and may have a function for its canonical form. */
static bool
range_is_known(Oid type)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_RANGE_INFO);

	return cache->rng_cmp_proc_finfo.fn_oid < FirstNormalObjectId &&
		cache->rng_canonical_finfo.fn_oid < FirstNormalObjectId &&
		gpusort_load_type_is_known(cache->rngelemtype->type_id);
}

/* A domain has the constraints of those that it is made of, too. */
static bool
domain_is_known(Oid type)
{
	DomainConstraintRef *domain = palloc0(sizeof(DomainConstraintRef));
	ListCell   *lc;

	if (!gpusort_load_type_is_known(getBaseType(type)))
		return false;
	InitDomainConstraintRef(type, domain, CurrentMemoryContext, false);
	foreach(lc, domain->constraints)
	{
		const DomainConstraintState *constraint = lfirst(lc);

		if (constraint->check_expr != NULL && !gpusort_load_expression_is_safe((Node *) constraint->check_expr))
			return false;
	}
	return true;
}

bool
gpusort_load_type_is_known(Oid type)
{
	Oid			function;
	Oid			ioparam;

	check_stack_depth();
	if (get_typtype(type) == TYPTYPE_DOMAIN)
		return domain_is_known(type);
	getTypeInputInfo(type, &function, &ioparam);
	if (function == F_ARRAY_IN)
		return gpusort_load_type_is_known(get_element_type(type));
	if (function == F_RANGE_IN)
		return range_is_known(type);
	return function_is_known(function);
}

/* ---------- functions ---------- */

/* A type of the server's that has no operator class may have been given one. */
static bool
operators_are_plain(Oid type)
{
	const TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);

	return cache->eq_opr < FirstNormalObjectId && cache->cmp_proc < FirstNormalObjectId &&
		cache->hash_proc < FirstNormalObjectId;
}

/* Nothing that functions of many types look up by a value's type is anybody's but the server's. */
static bool
type_is_plain(Oid type)
{
	Oid			element;
	char		kind;

	type = getBaseType(type);
	kind = get_typtype(type);
	element = get_element_type(type);
	return type < FirstNormalObjectId && kind != TYPTYPE_PSEUDO && kind != TYPTYPE_COMPOSITE &&
		(!OidIsValid(element) || operators_are_plain(element));
}

static bool
type_is_time(Oid type)
{
	return type == DATEOID || type == TIMEOID || type == TIMETZOID || type == TIMESTAMPOID ||
		type == TIMESTAMPTZOID || type == INTERVALOID;
}

/* Is it about time?  Does it not look into catalogs? */
static void
look_at_types(const FormData_pg_proc *proc, bool *time, bool *catalogs)
{
	*time = type_is_time(proc->prorettype);
	*catalogs = false;
	for (int i = 0; i < proc->pronargs; i++)
	{
		Oid			type = proc->proargtypes.values[i];

		*time |= type_is_time(type);
		*catalogs |= type == ANYOID || type == INTERNALOID || type == CSTRINGOID || type == REGCLASSOID ||
			type == RECORDOID;
	}
}

/*
 * One of the server's that depends on its arguments only; or on the settings for dates and times.  Other stable ones
 * look into catalogs, or call what they find there.
 */
static bool
function_is_refused(Oid function, void *context)
{
	HeapTuple	tuple;
	const FormData_pg_proc *proc;
	bool		time;
	bool		catalogs;
	bool		safe;

	if (function >= FirstNormalObjectId)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return true;
	proc = (const FormData_pg_proc *) GETSTRUCT(tuple);
	look_at_types(proc, &time, &catalogs);
	safe = proc->prolang == INTERNALlanguageId && proc->proparallel == PROPARALLEL_SAFE && !proc->proretset &&
		!proc->prosecdef && heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL) && !catalogs &&
		(proc->provolatile == PROVOLATILE_IMMUTABLE || (proc->provolatile == PROVOLATILE_STABLE && time));
	ReleaseSysCache(tuple);
	return !safe;
}

/* ---------- expressions ---------- */

/* Enums can be compared, and that's it. */
static bool
arguments_are_plain(List *arguments, bool enums)
{
	ListCell   *lc;

	foreach(lc, arguments)
	{
		Oid			type = exprType(lfirst(lc));

		if (!type_is_plain(type) &&
			!(enums && (type_is_enum(type) || type_is_enum(get_element_type(type)))))
			return false;
	}
	return true;
}

/* Do the functions for text of two types come to know nothing that is not the server's? */
static bool
conversion_is_safe(const CoerceViaIO *conversion)
{
	Oid			from = exprType((Node *) conversion->arg);
	Oid			function;
	Oid			ioparam;

	getTypeInputInfo(conversion->resulttype, &function, &ioparam);
	return (type_is_plain(from) || type_is_enum(from)) && function_is_known(function);
}

static bool
is_sequence(const Node *node)
{
	const FuncExpr *function = (const FuncExpr *) node;

	return IsA(node, NextValueExpr) ||
		(IsA(node, FuncExpr) && function->funcid == F_NEXTVAL && IsA(linitial(function->args), Const));
}

/* What kinds of expressions there are that this knows all about, and what is with their types. */
static bool
node_is_known(Node *node)
{
	switch (nodeTag(node))
	{
		case T_List:
		case T_CaseWhen:
		case T_Const:
		case T_CoerceToDomainValue:
		case T_BoolExpr:
		case T_BooleanTest:
		case T_SQLValueFunction:
		case T_CaseTestExpr:
			return true;
		case T_Var:
			return ((Var *) node)->varattno > 0 && ((Var *) node)->varlevelsup == 0;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return arguments_are_plain(((OpExpr *) node)->args, true);
		case T_ScalarArrayOpExpr:
			return arguments_are_plain(((ScalarArrayOpExpr *) node)->args, true);
		case T_FuncExpr:
			return arguments_are_plain(((FuncExpr *) node)->args, false);
		case T_MinMaxExpr:
			return arguments_are_plain(((MinMaxExpr *) node)->args, false) && operators_are_plain(((MinMaxExpr *) node)->minmaxtype);
		case T_NullTest:
			return !((NullTest *) node)->argisrow;
		case T_CoerceViaIO:
			return conversion_is_safe((CoerceViaIO *) node);
		case T_CoerceToDomain:
			return gpusort_load_type_is_known(((CoerceToDomain *) node)->resulttype);
		case T_SubscriptingRef:
			return type_is_plain(((SubscriptingRef *) node)->refcontainertype);
		case T_RelabelType:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_ArrayExpr:
			return true;
		default:
			return false;
	}
}

/* The context is where it is noted that there is a sequence, or NULL if there must be none. */
static bool
expression_is_refused(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (context != NULL && is_sequence(node))
	{
		*(bool *) context = true;
		return false;
	}
	if (!node_is_known(node) || (!IsA(node, CoerceViaIO) && check_functions_in_node(node, function_is_refused, NULL)))
		return true;
	return expression_tree_walker(node, expression_is_refused, context);
}

bool
gpusort_load_expression_is_safe(Node *expression)
{
	return !expression_is_refused(expression, NULL);
}

/* A function that looks at a table's key, and hashes by it: what is left of it are the values. */
static Node *
leave_out_hash(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_SATISFIES_HASH_PARTITION)
		return (Node *) list_copy_tail(((FuncExpr *) node)->args, 3);
	return expression_tree_mutator(node, leave_out_hash, context);
}

bool
gpusort_load_constraint_is_safe(Node *expression)
{
	return gpusort_load_expression_is_safe(leave_out_hash(expression, NULL));
}

bool
gpusort_load_comparison_is_safe(Oid type)
{
	return type_is_plain(type) || type_is_enum(type);
}

bool
gpusort_load_default_is_safe(Node *expression, bool *sequence)
{
	*sequence = false;
	return !expression_is_refused(expression, sequence);
}

/* ---------- planning ---------- */

/* The planner calls what is immutable, but puts in most SQL functions. */
static bool
function_is_called(Oid function, void *context)
{
	HeapTuple	tuple;
	bool		called;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return true;
	called = ((const FormData_pg_proc *) GETSTRUCT(tuple))->prolang != SQLlanguageId;
	ReleaseSysCache(tuple);
	return called;
}

static bool
planning_is_refused(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, function_is_called, NULL) ||
		expression_tree_walker(node, planning_is_refused, context);
}

bool
gpusort_load_planning_is_safe(Node *expression)
{
	return !planning_is_refused(expression, NULL);
}

/* ---------- sequences ---------- */

/* The only argument that is no constant, or NULL: functions are not called for a NULL. */
static Node **
find_variable(List *arguments)
{
	Node	  **variable = NULL;
	ListCell   *lc;

	foreach(lc, arguments)
	{
		const Node *argument = lfirst(lc);

		if (IsA(argument, Const) && !((const Const *) argument)->constisnull)
			continue;
		if (variable != NULL)
			return NULL;
		variable = (Node **) &lfirst(lc);
	}
	return variable;
}

/* What an expression is made of, by functions and casts. */
static Node **
find_operand(Node *expression)
{
	switch (nodeTag(expression))
	{
		case T_FuncExpr:
			return find_variable(((FuncExpr *) expression)->args);
		case T_OpExpr:
			return find_variable(((OpExpr *) expression)->args);
		case T_RelabelType:
			return (Node **) &((RelabelType *) expression)->arg;
		case T_CoerceViaIO:
			return (Node **) &((CoerceViaIO *) expression)->arg;
		case T_CoerceToDomain:
			return (Node **) &((CoerceToDomain *) expression)->arg;
		default:
			return NULL;
	}
}

Node **
gpusort_load_find_sequence(Node **expression)
{
	Node	  **place = expression;

	while (place != NULL && !is_sequence(*place))
		place = find_operand(*place);
	return place != NULL && get_typbyval(exprType(*place)) ? place : NULL;
}
