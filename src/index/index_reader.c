/*
 * index_reader.c
 *		A process that reads the table of an index build; see index_reader.h.
 */
#include "postgres.h"

#include "index/index_reader.h"

void
gpusort_reader_put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive,
					   void *state)
{
	GpuSortIndexReader *reader = state;

	gpusort_index_put_values(&reader->rows, values, isnull, tid,
							 alive || !reader->target.info->ii_Unique);
	gpusort_reader_exchange(reader);
}
