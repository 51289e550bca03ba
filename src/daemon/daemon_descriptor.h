/*
 * daemon_descriptor.h
 *		Reading job descriptors: numbers from another process are turned into addresses.
 */
#ifndef DAEMON_DESCRIPTOR_H
#define DAEMON_DESCRIPTOR_H

#include "engine/device/gs_reorder.h"

#include "protocol/gsd_pool.h"

/* What a job asks for, in the form that the engine takes. */
typedef struct gsd_arguments
{
	gs_device_args args;
	gs_span_plane planes[GS_MAX_PLANES];
	bool		traced;
	bool		reorder;
	gs_reorder_args rows;		/* meaningful if `reorder` */
	/* malloc'd; addresses of extents, by place in the descriptor's list */
	void	  **parts;
} gsd_arguments;

/* Returns whether there is such an extent, and it belongs to the job or to the job's backend. */
extern bool gsd_job_owns_extent(const gsd_pool *pool, unsigned job, uint32_t extent);

/* Returns the job's descriptor, or NULL if the extent that it is said to be in is not the job's. */
extern gsd_descriptor *gsd_job_descriptor(const gsd_pool *pool, unsigned job);

/* Returns the words of a segment of a plane of an open job, or NULL if there is no such extent. */
extern const uint64_t *gsd_segment_words(const gsd_pool *pool, unsigned job, unsigned plane,
										 uint64_t segment);

/* Returns extent number i of the rows of an open job, or NULL if there is none. */
extern const void *gsd_row_extent(const gsd_pool *pool, unsigned job, uint64_t i);

/*
 * Translates the descriptor of a job that is to be run into `arguments`.  Returns NULL, or what is
 * wrong with the descriptor.  The caller calls gsd_free_arguments() afterwards in any case.
 */
extern const char *gsd_read_arguments(const gsd_pool *pool, unsigned job,
									  gsd_arguments *arguments);
extern void gsd_free_arguments(gsd_arguments *arguments);

#endif							/* DAEMON_DESCRIPTOR_H */
