/*
 * ops_side.h
 *		One of the two devices that ops_test.c compares, and its memory.
 */
#ifndef OPS_SIDE_H
#define OPS_SIDE_H

#include "engine/device/gs_device.h"

#define SIDE_MAX_BLOCKS	256

typedef struct side
{
	const char *name;
	gs_device  *device;
	unsigned	nblocks;		/* of the case at hand */
	void	   *blocks[SIDE_MAX_BLOCKS];	/* device memory, or NULL */
	void	   *tables[SIDE_MAX_BLOCKS];	/* host memory, or NULL; without a
											 * block: registered */
} side;

/* How the segments of an array lie. */
typedef enum segment_places
{
	SEGMENTS_ADJOIN,			/* one after the other in device memory */
	SEGMENTS_SHUFFLED,			/* anywhere in device memory */
	SEGMENTS_ON_HOST,			/* in memory that the device was told of */
	SEGMENT_PLACES
} segment_places;

/* Ends the program with device->error unless the status is GS_OK. */
extern void must(side *s, gs_status status, const char *what);

/* Device memory until side_clear(), uninitialised or with these contents. */
extern void *side_alloc(side *s, size_t bytes);
extern void *side_put(side *s, const void *data, size_t bytes);

/* Contents of device memory, once all queues have come to an end. */
extern void side_get(side *s, void *to, const void *from, size_t bytes);

/* Pointers by segment to a copy of data, of which each segment has so many words. */
extern const uint64_t *const *side_segments(side *s, const uint64_t *data, uint64_t nwords,
											uint64_t segment_words, segment_places places);

/* The words behind such pointers. */
extern void side_get_segments(side *s, uint64_t *to, const uint64_t *const *segments,
							  uint64_t nwords, uint64_t segment_words);

extern void side_clear(side *s);

#endif							/* OPS_SIDE_H */
