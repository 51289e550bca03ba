/*
 * device_test.c
 *		Sorting on groups of devices against the reference.
 */
#include <string.h>

#include "device_case.h"
#include "tap.h"
#include "test_group.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define ARENA_BYTES	((size_t) 64 << 20)

static sort_case
plain_case(key_shape shape, uint64_t nrows)
{
	sort_case	c = {
		.nrows = nrows,
		.nplanes = 1,
		.id_bytes = 4,
		.want_equal = true,
		.seed = nrows + 1,
	};

	c.planes[0].keys = shape;
	return c;
}

int
main(void)
{
	static const unsigned groups[] = {1, 2, 3, 4, 5, 8};

	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		bool		passed = true;
		sort_case	c = plain_case((key_shape) shape, 20003);
		prepared_case *prepared = case_prepare(&c);

		for (size_t i = 0; i < LENGTH(groups); i++)
		{
			gs_group   *group = test_group_open(groups[i], ARENA_BYTES);
			device_setup setup = {0};

			group->options.device_rows = 1;
			group->options.bucket_rows = 500;
			passed &= device_case_passes(prepared, group, &setup, NULL);
			group->options.exchange = GS_EXCHANGE_COPY;
			passed &= device_case_passes(prepared, group, &setup, NULL);
			test_group_close(group);
		}
		case_release(prepared);
		tap_ok(passed, "%s", key_shape_name((key_shape) shape));
	}
	return tap_finish();
}
