/*
 * gsd_exit.c
 *		What gpusortd's exit status tells its supervisor.
 */
#include "protocol/gsd_exit.h"

bool
gsd_exit_is_permanent(int status)
{
	switch (status)
	{
		case GSD_EXIT_USAGE:
		case GSD_EXIT_NO_DEVICE:
		case GSD_EXIT_WRONG_POOL:
		case GSD_EXIT_DEVICE_WRONG:
		case GSD_EXIT_NO_PROGRAM:
			return true;
		default:
			return false;
	}
}
