/*
 * gs_job.c
 *		Looks that all steps of a sort on the host take now and then: tells how far
 *		the sort has come, and sees whether it is still wanted.
 */
#include "engine/host/gs_job.h"

bool
gs_job_look(gs_job *job)
{
	gs_progress_advance(job->progress, (double) job->work * job->row_cost);
	job->work = 0;
	return gs_cancelled(job->cancel) || gs_cancelled(job->also_cancel);
}
