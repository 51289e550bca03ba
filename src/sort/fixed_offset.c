/*
 * fixed_offset.c
 *		Attributes that lie at the same place in every tuple; see sort.h.
 */
#include "postgres.h"

#include "access/tupmacs.h"

#include "sort/sort.h"

int
gpusort_fixed_offset(TupleDesc desc, AttrNumber attno)
{
	int			offset = 0;

	for (int i = 0; i < attno; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (i == attno - 1 && att->attlen == -1)
			return offset;
		offset = att_align_nominal(offset, att->attalign);
		if (i == attno - 1)
			return offset;
		if (att->attlen < 0)
			break;
		offset += att->attlen;
	}
	return -1;
}
