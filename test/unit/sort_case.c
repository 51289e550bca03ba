/*
 * sort_case.c
 *		One call of gs_sort() on generated planes, checked in every respect.
 *
 * The expected order is computed from copies of the planes before the engine
 * runs.  Everything the engine gets lies between red zones.
 */
#include <stdlib.h>
#include <string.h>

#include "case_data.h"
#include "reference.h"
#include "sort_case.h"

static bool
ids_inside(const gs_sort_result *result, const guarded *workspace, const sort_case *c)
{
	const unsigned char *begin = result->ids;
	const unsigned char *data = guarded_data(workspace);

	return begin >= data && begin + c->nrows * c->id_bytes <= data + workspace->bytes;
}

/* NULL if all is well. */
static const char *
find_fault(const sort_case *c, const case_data *data, const uint64_t *expected_ids,
		   const uint64_t *expected_equal, gs_sort_result *result)
{
	size_t		equal_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);
	guarded		workspace = guarded_alloc(gs_sort_workspace_bytes(c->nrows));
	guarded		equal = guarded_alloc(equal_bytes);
	const char *fault = NULL;
	gs_sort_args args = {
		.nrows = c->nrows,
		.nplanes = c->nplanes,
		.planes = data->planes,
		.id_bytes = c->id_bytes,
		.workspace = guarded_data(&workspace),
		.workspace_bytes = workspace.bytes,
		.equal = c->want_equal ? guarded_data(&equal) : NULL,
	};

	if (gs_sort(&args, result) != GS_OK)
		fault = "status";
	else if (!ids_inside(result, &workspace, c))
		fault = "ids outside of the workspace";
	else if (case_first_difference(result->ids, expected_ids, c) < c->nrows)
		fault = "order";
	else if (c->want_equal && memcmp(guarded_data(&equal), expected_equal, equal_bytes) != 0)
		fault = "equal bitmap";
	else if (!guarded_intact(&workspace) || !guarded_intact(&equal))
		fault = "red zones";
	else if (!case_data_untouched(data, c))
		fault = "planes changed";
	guarded_free(&workspace);
	guarded_free(&equal);
	return fault;
}

bool
sort_case_passes(const sort_case *c, gs_sort_result *result)
{
	case_data  *data = calloc(1, sizeof(*data));
	uint64_t   *ids = malloc((c->nrows + 1) * sizeof(uint64_t));
	uint64_t   *equal = malloc((c->nrows + 64) / 64 * sizeof(uint64_t));
	gs_sort_result own_result;
	const char *fault;

	case_data_fill(data, c);
	reference_sort(ids, equal, data->copies, c->nplanes, c->nrows);
	fault = find_fault(c, data, ids, equal, result != NULL ? result : &own_result);
	if (fault != NULL)
		case_describe(c, fault);
	case_data_free(data, c);
	free(data);
	free(ids);
	free(equal);
	return fault == NULL;
}
