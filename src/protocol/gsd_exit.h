/*
 * gsd_exit.h
 *		What gpusortd's exit status tells its supervisor.
 */
#ifndef GSD_EXIT_H
#define GSD_EXIT_H

#include <stdbool.h>

typedef enum gsd_exit
{
	GSD_EXIT_ASKED = 0,			/* it was asked to end */
	GSD_EXIT_USAGE = 1,			/* its command line makes no sense */
	GSD_EXIT_NO_DEVICE = 3,		/* there is no device to sort on */
	GSD_EXIT_WRONG_POOL = 4,	/* the pool was made by another version */
	GSD_EXIT_DEVICE_LOST = 5,
	GSD_EXIT_NO_MEMORY = 6,
	GSD_EXIT_DEVICE_WRONG = 7,	/* its devices have sorted wrongly, more than once */
	GSD_EXIT_NO_PROGRAM = 127	/* the program does not exist; a child of the supervisor ends so */
} gsd_exit;

/*
 * Returns whether the next gpusortd would end in the same way as one that ended with this status.
 * It would not if that one has lost a device or found no memory, nor if it was ended by a signal,
 * for which status is below 0.
 */
extern bool gsd_exit_is_permanent(int status);

#endif							/* GSD_EXIT_H */
