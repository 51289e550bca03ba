/*
 * index_key.c
 *		Derives the sort key of an index; see index_key.h.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "utils/lsyscache.h"

#include "index/index_key.h"
#include "keys/key_codec.h"

bool
gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	*spec = gpusort_make_spec(GPUSORT_KIND_INDEX, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		int16		option = index->rd_indoption[i];
		Oid			type = index->rd_opcintype[i];

		spec->attnos[i] = i + 1;
		spec->collations[i] = index->rd_indcollation[i];
		spec->sortops[i] = get_opfamily_member(index->rd_opfamily[i], type, type,
											   (option & INDOPTION_DESC) != 0
											   ? BTGreaterStrategyNumber
											   : BTLessStrategyNumber);
		spec->nulls_first[i] = (option & INDOPTION_NULLS_FIRST) != 0;
		if (!OidIsValid(spec->sortops[i]))
		{
			*reason = "operator family has no ordering operator";
			return false;
		}
		if (!gpusort_codec_fits_class(spec->sortops[i], index->rd_opfamily[i], type,
									  index_getprocid(index, i + 1, BTORDER_PROC), reason))
			return false;
	}
	return true;
}
