/*
 * ops_text.c
 *		find_fields() on both devices.
 */
#include <stdlib.h>
#include <string.h>

#include "ops_cases.h"
#include "parse_data.h"
#include "tap.h"

typedef struct text_result
{
	gs_found	found;
	uint32_t   *field_ends;
	uint32_t   *record_fields;
} text_result;

static void
find_on(side *s, const gs_dialect *dialect, const char *data, uint32_t bytes, uint32_t most, text_result *r)
{
	const gs_device_ops *ops = s->device->ops;
	size_t		array_bytes = (most + 1) * sizeof(uint32_t);
	gs_text		text = {
		.dialect = *dialect,
		.data = side_put(s, data, (bytes + 15) / 16 * 16),
		.bytes = bytes,
		.max_fields = most,
		.max_records = most,
		.temp = side_alloc(s, ops->find_fields_temp_bytes(s->device, bytes))
	};

	r->field_ends = malloc(array_bytes);
	r->record_fields = malloc(array_bytes);
	memset(r->field_ends, 0xee, array_bytes);
	memset(r->record_fields, 0xee, array_bytes);
	memset(&r->found, 0xee, sizeof(r->found));
	text.field_ends = side_put(s, r->field_ends, array_bytes);
	text.record_fields = side_put(s, r->record_fields, array_bytes);
	text.found = side_put(s, &r->found, sizeof(r->found));
	must(s, ops->find_fields(s->device, GS_QUEUE_WORK, &text), "find_fields");
	side_get(s, r->field_ends, text.field_ends, array_bytes);
	side_get(s, r->record_fields, text.record_fields, array_bytes);
	side_get(s, &r->found, text.found, sizeof(r->found));
	side_clear(s);
}

static bool
same_text(const gs_dialect *dialect, const parse_blend *blend, uint32_t bytes, bool room)
{
	char	   *data = calloc(bytes + 32, 1);
	uint32_t	length = (uint32_t) parse_random_input(dialect, blend, bytes, data);
	uint32_t	most = room ? length + 1 : length / 40;
	size_t		array_bytes = (most + 1) * sizeof(uint32_t);
	text_result results[2];
	bool		same;

	for (int i = 0; i < 2; i++)
		find_on(&ops_sides()[i], dialect, data, length, most, &results[i]);
	same = memcmp(&results[0].found, &results[1].found, sizeof(gs_found)) == 0 &&
		memcmp(results[0].field_ends, results[1].field_ends, array_bytes) == 0 &&
		memcmp(results[0].record_fields, results[1].record_fields, array_bytes) == 0;
	for (int i = 0; i < 2; i++)
	{
		free(results[i].field_ends);
		free(results[i].record_fields);
	}
	free(data);
	return same;
}

void
test_text(bool small)
{
	static const uint32_t sizes[] = {1, 15, 64, 65, 1000, 8192, 8193, 20000, 300000, 1 << 20};
	static const parse_blend blends[] = {{2, 0, 2}, {3, 60, 20}, {10, 2000, 60}, {100, 0, 3}};

	for (unsigned n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
	{
		unsigned	different = 0;
		unsigned	times = small ? 4 : 40;

		if (small && sizes[n] > 20000)
			continue;
		for (unsigned i = 0; i < times; i++)
		{
			gs_dialect	dialect = parse_random_dialect();

			different += !same_text(&dialect, &blends[i % 4], sizes[n], i % 5 != 0);
		}
		tap_ok(different == 0, "text of %u bytes in %u dialects, %u differ", sizes[n], times, different);
	}
}
