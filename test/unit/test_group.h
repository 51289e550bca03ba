/*
 * test_group.h
 *		The devices that a test runs on; each kind of device has a file that
 *		implements this.
 */
#ifndef TEST_GROUP_H
#define TEST_GROUP_H

#include "engine/device/gs_device_sort.h"

/*
 * A group of g devices with arenas of so many bytes and default options; NULL when
 * there are not as many.
 */
extern gs_group *test_group_open(unsigned g, size_t arena_bytes);
extern void test_group_close(gs_group *group);

/*
 * The same, and operation number fail_at of a device fails.  NULL when devices of
 * this kind can't do that.
 */
extern gs_group *test_group_open_failing(unsigned g, size_t arena_bytes, unsigned device,
										 uint64_t fail_at);

/* Host memory, aligned to 64 bytes, that devices may read and write. */
extern void *test_memory_alloc(size_t bytes);
extern void test_memory_free(void *memory);

#endif							/* TEST_GROUP_H */
