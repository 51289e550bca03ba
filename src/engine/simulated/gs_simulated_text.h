/*
 * gs_simulated_text.h
 *		Finding records and fields of delimited text, for the simulated device.
 */
#ifndef GS_SIMULATED_TEXT_H
#define GS_SIMULATED_TEXT_H

#include "engine/device/gs_device.h"

extern void gs_simulated_find_fields(const gs_text *text);

#endif							/* GS_SIMULATED_TEXT_H */
