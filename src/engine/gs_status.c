/*
 * gs_status.c
 *		What each status means, as text.
 */
#include "engine/gs_engine.h"

const char *
gs_status_text(gs_status status)
{
	switch (status)
	{
		case GS_OK:
			return "sorted";
		case GS_INVALID:
			return "sort arguments contradict each other";
		case GS_NO_SPACE:
			return "sort workspace is too small";
		case GS_CANCELLED:
			return "sort was cancelled";
		case GS_DEVICE_ERROR:
			return "device refused an operation";
		case GS_DEVICE_LOST:
			return "device has failed";
		case GS_DEVICE_WRONG:
			return "device has sorted wrongly";
	}
	return "unknown sort status";
}
