/*
 * daemon_mistakes.c
 *		What can be wrong in a descriptor of daemon_test's.
 */
#include "daemon_mistakes.h"

static void
no_rows(gsd_descriptor *d)
{
	d->nrows = 0;
}

static void
too_many_rows(gsd_descriptor *d)
{
	d->nrows = UINT64_C(1) << 33;
}

static void
more_rows_than_words(gsd_descriptor *d)
{
	d->nrows = 3 * GSD_EXTENT_BYTES / sizeof(uint64_t) + 1;
}

static void
no_planes(gsd_descriptor *d)
{
	d->nplanes = 0;
}

static void
too_many_planes(gsd_descriptor *d)
{
	d->nplanes = GS_MAX_PLANES + 1;
}

static void
plane_without_words(gsd_descriptor *d)
{
	d->nplanes = 2;
}

static void
odd_ids(gsd_descriptor *d)
{
	d->id_bytes = 5;
}

static void
odd_null_order(gsd_descriptor *d)
{
	d->planes[0].null_order = 3;
}

static void
long_list(gsd_descriptor *d)
{
	d->list_size = GSD_LIST_MAX + 1;
}

static void
stretch_behind_list(gsd_descriptor *d)
{
	d->planes[0].words.first = d->list_size - 2;
}

static void
stretch_around(gsd_descriptor *d)
{
	d->ids = (gsd_extents) {UINT32_MAX, 2};
}

static void
short_ids(gsd_descriptor *d)
{
	d->id_bytes = sizeof(uint64_t);
}

static void
extent_behind_pool(gsd_descriptor *d)
{
	d->list[1] = EXTENTS;
	d->list[2] = UINT32_MAX;
}

static void
extent_of_another(gsd_descriptor *d)
{
	d->list[4] = FOREIGN;
}

static void
extent_of_nobody(gsd_descriptor *d)
{
	d->list[0] = UNOWNED;
}

static void
bitmap_of_another(gsd_descriptor *d)
{
	d->equal = (gsd_extents) {5, 1};
	d->list[5] = FOREIGN;
}

static void
nulls_of_another(gsd_descriptor *d)
{
	d->planes[0].nulls = (gsd_extents) {3, 1};
	d->list[3] = FOREIGN;
}

static void
rows_of_another(gsd_descriptor *d)
{
	d->rows.rows = (gsd_extents) {5, 3};
	d->rows.row_bytes = NROWS * 8;
	d->list[5] = FOREIGN;
	d->rows.unit = 8;
}

static void
rows_to_another(gsd_descriptor *d)
{
	d->rows = (gsd_rows) {{5, 1}, {5, 1}, {6, 1}, {5, 1}, 4096, 0, 8, 0, UINT32_MAX};
	d->nrows = 100;
	d->list[6] = FOREIGN;
}

static void
few_references(gsd_descriptor *d)
{
	d->rows = (gsd_rows) {{5, 1}, {5, 0}, {5, 1}, {5, 1}, 4096, 0, 8, 0, UINT32_MAX};
}

static void
wide_unit(gsd_descriptor *d)
{
	d->rows = (gsd_rows) {{5, 1}, {5, 1}, {5, 1}, {5, 1}, 4096, 0, UINT64_C(1) << 33, 0, UINT32_MAX};
}

static void
length_in_another_word(gsd_descriptor *d)
{
	d->rows = (gsd_rows) {{5, 1}, {5, 1}, {5, 1}, {5, 1}, 4096, 0, 8, 64, UINT32_MAX};
}

static void
more_bytes_than_rows(gsd_descriptor *d)
{
	d->rows = (gsd_rows) {{5, 1}, {5, 1}, {5, 1}, {5, 1}, GSD_EXTENT_BYTES + 1, 0, 8, 0, UINT32_MAX};
}

const mistake daemon_mistakes[] = {
	{"no rows", no_rows},
	{"too many rows for their ids", too_many_rows},
	{"more rows than words", more_rows_than_words},
	{"no planes", no_planes},
	{"too many planes", too_many_planes},
	{"a plane without words", plane_without_words},
	{"ids of 5 bytes", odd_ids},
	{"unknown order of nulls", odd_null_order},
	{"a list longer than its extent", long_list},
	{"a stretch that ends behind the list", stretch_behind_list},
	{"a stretch that begins behind all numbers", stretch_around},
	{"less room for ids than rows", short_ids},
	{"an extent behind the pool", extent_behind_pool},
	{"another process's extent for ids", extent_of_another},
	{"nobody's extent for words", extent_of_nobody},
	{"another process's extent for the bitmap", bitmap_of_another},
	{"another process's extent for nulls", nulls_of_another},
	{"another process's rows", rows_of_another},
	{"rows to go to another process", rows_to_another},
	{"fewer references than rows", few_references},
	{"an odd unit of references", wide_unit},
	{"lengths that are not in a row's first word", length_in_another_word},
	{"more bytes than the rows have", more_bytes_than_rows},
};

const unsigned daemon_nmistakes = sizeof(daemon_mistakes) / sizeof(daemon_mistakes[0]);
