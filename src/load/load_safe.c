/*
 * load_safe.c
 *		What may be called while rows are loaded; see load_statement_private.h.
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

#include "load/load_statement_private.h"

/*
 * Input functions that depend on nothing but their arguments and on settings, or that look up the
 * labels of an enum.  None of them has notices for the client, as tsqueryin() has for a query
 * without words: a notice is about a line, and a line may be read here before its turn, and once
 * more by PostgreSQL.
 */
static const Oid known_functions[] = {
	F_BOOLIN, F_BYTEAIN, F_CHARIN, F_NAMEIN, F_INT2IN, F_INT4IN, F_INT8IN, F_TEXTIN, F_VARCHARIN,
	F_BPCHARIN, F_OIDIN, F_TIDIN, F_JSON_IN, F_JSONB_IN, F_POINT_IN, F_LSEG_IN, F_PATH_IN, F_BOX_IN,
	F_POLY_IN, F_LINE_IN, F_CIRCLE_IN, F_FLOAT4IN, F_FLOAT8IN, F_DATE_IN, F_TIME_IN, F_TIMETZ_IN,
	F_TIMESTAMP_IN, F_TIMESTAMPTZ_IN, F_INTERVAL_IN, F_BIT_IN, F_VARBIT_IN, F_NUMERIC_IN, F_UUID_IN,
	F_INET_IN, F_CIDR_IN, F_MACADDR_IN, F_MACADDR8_IN, F_CASH_IN, F_TSVECTORIN, F_PG_LSN_IN,
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

/*
 * Returns whether values of a type whose input function is known are safe to receive: by a function
 * of the server's own, which is like the input function in what it depends on.
 */
static bool
receiving_is_known(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			function;

	if (!HeapTupleIsValid(tuple))
		return false;
	function = ((Form_pg_type) GETSTRUCT(tuple))->typreceive;
	ReleaseSysCache(tuple);
	return OidIsValid(function) && function < FirstNormalObjectId &&
		func_parallel(function) == PROPARALLEL_SAFE;
}

/*
 * Returns whether values of a range type are safe to read.  Its bounds are compared by an operator
 * class, and the type may have a function for its canonical form.
 */
static bool
range_is_known(Oid type, bool binary)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_RANGE_INFO);

	return cache->rng_cmp_proc_finfo.fn_oid < FirstNormalObjectId &&
		cache->rng_canonical_finfo.fn_oid < FirstNormalObjectId &&
		gpusort_load_type_is_known(cache->rngelemtype->type_id, binary);
}

/*
 * Returns whether values of a domain are safe to read.  Its constraints include those of the
 * domains that it is based on.
 */
static bool
domain_is_known(Oid type, bool binary)
{
	DomainConstraintRef *domain = palloc0(sizeof(DomainConstraintRef));
	ListCell   *lc;

	if (!gpusort_load_type_is_known(getBaseType(type), binary))
		return false;
	InitDomainConstraintRef(type, domain, CurrentMemoryContext, false);
	foreach(lc, domain->constraints)
	{
		const DomainConstraintState *constraint = lfirst(lc);

		if (constraint->check_expr != NULL &&
			!gpusort_load_expression_is_safe((Node *) constraint->check_expr))
			return false;
	}
	return true;
}

bool
gpusort_load_type_is_known(Oid type, bool binary)
{
	Oid			function;
	Oid			ioparam;

	check_stack_depth();
	if (get_typtype(type) == TYPTYPE_DOMAIN)
		return domain_is_known(type, binary);
	getTypeInputInfo(type, &function, &ioparam);
	if (function == F_ARRAY_IN)
		return gpusort_load_type_is_known(get_element_type(type), binary);
	if (function == F_RANGE_IN)
		return range_is_known(type, binary);
	return function_is_known(function) && (!binary || receiving_is_known(type));
}

/* ---------- functions ---------- */

/*
 * Returns whether the operators of a type are the server's.  Even if the type is the server's own,
 * somebody may have given it an operator class that it had not.
 */
static bool
operators_are_plain(Oid type)
{
	const TypeCacheEntry *cache =
		lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);

	return cache->eq_opr < FirstNormalObjectId && cache->cmp_proc < FirstNormalObjectId &&
		cache->hash_proc < FirstNormalObjectId;
}

/*
 * Returns whether a type is the server's own, and so is everything that polymorphic functions look
 * up by the type of a value.
 */
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

/*
 * Sets *time if a function is about time, and *catalogs if it may look into the catalogs; both are
 * told from the types of its arguments, and *time also from its result.
 */
static void
look_at_types(const FormData_pg_proc *proc, bool *time, bool *catalogs)
{
	*time = type_is_time(proc->prorettype);
	*catalogs = false;
	for (int i = 0; i < proc->pronargs; i++)
	{
		Oid			type = proc->proargtypes.values[i];

		*time |= type_is_time(type);
		*catalogs |= type == ANYOID || type == INTERNALOID || type == CSTRINGOID ||
			type == REGCLASSOID || type == RECORDOID;
	}
}

/*
 * Returns whether a function may not be called.  It may be called if it is one of the server's and
 * depends on nothing but its arguments, or on the settings for dates and times.  Other stable
 * functions look into catalogs, or call what they find there.
 */
static bool
note_function(Oid function, void *context)
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
	safe = proc->prolang == INTERNALlanguageId && proc->proparallel == PROPARALLEL_SAFE &&
		!proc->proretset &&
		!proc->prosecdef && heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL) && !catalogs &&
		(proc->provolatile == PROVOLATILE_IMMUTABLE ||
		 (proc->provolatile == PROVOLATILE_STABLE && time));
	ReleaseSysCache(tuple);
	return !safe;
}

/* ---------- expressions ---------- */

/*
 * Returns whether functions can be called with arguments of these types.  With "enums", the
 * arguments may also be enums, which can be compared but nothing else.
 */
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

/*
 * Returns whether a conversion by way of text calls only the server's functions: the output
 * function of one type, and the input function of the other.
 */
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
		(IsA(node, FuncExpr) && function->funcid == F_NEXTVAL &&
		 IsA(linitial(function->args), Const));
}

/*
 * Returns whether this code knows all about an expression's kind, and whether the types in it are
 * safe.
 */
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
			return arguments_are_plain(((MinMaxExpr *) node)->args, false) &&
				operators_are_plain(((MinMaxExpr *) node)->minmaxtype);
		case T_NullTest:
			return !((NullTest *) node)->argisrow;
		case T_CoerceViaIO:
			return conversion_is_safe((CoerceViaIO *) node);
		case T_CoerceToDomain:
			return gpusort_load_type_is_known(((CoerceToDomain *) node)->resulttype, false);
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

/*
 * Returns whether an expression is not safe.  The context is a bool that is set if there is a
 * sequence, or NULL if there must be none.
 */
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
	if (!node_is_known(node) ||
		(!IsA(node, CoerceViaIO) && check_functions_in_node(node, note_function, NULL)))
		return true;
	return expression_tree_walker(node, expression_is_refused, context);
}

bool
gpusort_load_expression_is_safe(Node *expression)
{
	return !expression_is_refused(expression, NULL);
}

/*
 * Replaces satisfies_hash_partition(), which looks up the key of a table and hashes by it, by the
 * list of the values that are hashed.
 */
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

/*
 * Returns whether the planner may call a function that is not the server's.  It calls immutable
 * functions, but inlines most SQL functions.
 */
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

/*
 * Returns the place of the only argument that is not a constant, or NULL if there are several.  A
 * constant NULL counts as one of them, because strict functions are not called for it.
 */
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

/*
 * Returns the place of the operand that an expression is made of by functions and casts, or NULL.
 */
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
