/*
 * gs_scan.h
 *		Makes items of all rows, with the key's first section.
 */
#ifndef GS_SCAN_H
#define GS_SCAN_H

#include "engine/host/gs_items.h"
#include "engine/host/gs_radix.h"

extern bool gs_scan_rows(gs_job *job, const gs_section *section, gs_digits digits, gs_order *order);
extern bool gs_scan_reverse(gs_job *job);

#endif							/* GS_SCAN_H */
