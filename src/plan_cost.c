/*
 * plan_cost.c
 *		Estimates of a GpuSort: cost and memory, and whether to take a sort over.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"

#include "key_codec.h"
#include "plan_node.h"
#include "settings.h"

/*
 * PostgreSQL's bounded sort keeps the best k of n rows in a heap and throws
 * nearly every row away after one comparison (about 30 ns), while a full sort
 * pays for all of them (about 100 ns).  It wins up to k = n / 16 and somewhat
 * beyond, before its k log k log(n/k) updates of the heap weigh as much.
 */
#define BOUNDED_SORT_SHARE	16

/* Row reference, two engine items, position and equal bit of rows with strings. */
#define ROW_OVERHEAD_BYTES	25

/* Assumed length of a byte string key, where costs have to guess. */
#define STRING_KEY_BYTES	16

static double
key_bytes(const GpuSortCodec *codec)
{
	return codec->nwords * sizeof(uint64) +
		(codec->bytes != GPUSORT_BYTES_NONE ? STRING_KEY_BYTES : 0);
}

bool
gpusort_estimate(int nkeys, const Oid *sortops, const Oid *types, const Oid *collations,
				 double rows, int width, GpuSortEstimate *estimate, const char **reason)
{
	double		keys = 0;
	double		row_bytes = MAXALIGN(width) + MAXALIGN(SizeofMinimalTupleHeader);

	if (nkeys > GPUSORT_MAX_KEYS)
	{
		*reason = "too many sort columns";
		return false;
	}
	for (int i = 0; i < nkeys; i++)
	{
		bool		reverse;
		const GpuSortCodec *codec = gpusort_codec_lookup(sortops[i], types[i], collations[i],
														 &reverse, reason);

		if (codec == NULL)
			return false;
		keys += key_bytes(codec);
		row_bytes += gpusort_codec_extra_bytes(codec, Min(width, STRING_KEY_BYTES));
	}

	estimate->startup_cost = gpusort_cost_startup +
		rows * (gpusort_cost_row + keys * gpusort_cost_key_byte +
				row_bytes * gpusort_cost_row_byte);
	estimate->run_cost = rows * gpusort_cost_emit;
	estimate->memory_bytes = rows * (row_bytes + keys + ROW_OVERHEAD_BYTES);
	return true;
}

bool
gpusort_worth_it(double rows, int width, double limit_rows, const GpuSortEstimate *estimate,
				 const char **reason)
{
	if (gpusort_force)
		return true;
	if (rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else if (limit_rows >= 0 && limit_rows < rows / BOUNDED_SORT_SHARE)
		*reason = "few rows wanted of many, which a bounded sort finds faster";
	else if (estimate->memory_bytes > gpusort_memory_limit() + gpusort_pool_limit())
		*reason = gpusort_pool_limit() == 0 ?
			"rows estimated not to fit into work_mem * hash_mem_multiplier" :
			"rows estimated not to fit into work_mem * hash_mem_multiplier and gpusort.pool_quota";
	else
		return true;
	return false;
}
