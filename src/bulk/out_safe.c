/*
 * out_safe.c
 *		Decides whether parallel workers may write rows; see out_stream_private.h.
 *
 * The functions of a type that consists of other types call the functions of those types, so these
 * are looked at, too.  The server's own output functions are all parallel safe; those of extensions
 * are as they were declared.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "bulk/out_stream_private.h"

static bool is_safe_type(Oid type, bool binary);

static bool
has_safe_columns(Oid type, bool binary)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);
	bool		safe = true;

	for (int i = 0; i < desc->natts && safe; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		safe = attribute->attisdropped || is_safe_type(attribute->atttypid, binary);
	}
	FreeTupleDesc(desc);
	return safe;
}

/*
 * Returns whether the function that writes the type's values is parallel safe, without regard to
 * functions that it calls.
 */
static bool
has_safe_function(Oid type, bool binary)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	Oid			function;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	form = (Form_pg_type) GETSTRUCT(tuple);
	function = binary ? form->typsend : form->typoutput;
	ReleaseSysCache(tuple);
	return OidIsValid(function) && func_parallel(function) == PROPARALLEL_SAFE;
}

/*
 * Returns whether all functions that make text or bytes of the type's values are parallel safe.  An
 * anonymous record type is not safe, since its columns are not known before there are rows.
 */
static bool
is_safe_type(Oid type, bool binary)
{
	Oid			element;

	check_stack_depth();
	type = getBaseType(type);
	if (get_typtype(type) == TYPTYPE_PSEUDO || !has_safe_function(type, binary))
		return false;
	element = get_element_type(type);
	if (!OidIsValid(element))
		element = get_range_subtype(type);
	if (!OidIsValid(element))
		element = get_multirange_range(type);
	if (OidIsValid(element))
		return is_safe_type(element, binary);
	return get_typtype(type) != TYPTYPE_COMPOSITE || has_safe_columns(type, binary);
}

/*
 * Returns whether workers can write text in the encoding.  With `by_functions`, it is the client's
 * encoding, to which send functions convert; they do not convert in a worker, where the client's
 * encoding is the server's.  Other text is converted by the encoding's default conversion, whose
 * function may be a user's.
 */
static bool
is_safe_encoding(int encoding, bool by_functions)
{
	int			own = GetDatabaseEncoding();
	Oid			conversion;

	if (encoding == own || encoding == PG_SQL_ASCII)
		return true;
	if (by_functions)
		return false;
	conversion = FindDefaultConversionProc(own, encoding);
	return OidIsValid(conversion) && func_parallel(conversion) == PROPARALLEL_SAFE;
}

bool
gpusort_out_is_parallel_safe(const GpuSortOutFormat *format, const GpuSortOutColumn *columns)
{
	if (!is_safe_encoding(format->encoding, false))
		return false;
	for (int i = 0; i < format->ncolumns; i++)
		if (!is_safe_type(columns[i].type, columns[i].binary) ||
			(columns[i].binary && !is_safe_encoding(pg_get_client_encoding(), true)))
			return false;
	return true;
}
