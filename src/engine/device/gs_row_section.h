/*
 * gs_row_section.h
 *		Reading a section of the key of one row from planes in segments.
 */
#ifndef GS_ROW_SECTION_H
#define GS_ROW_SECTION_H

#include "engine/device/gs_device.h"

/*
 * Returns the section of a row's key.  planes[i] belongs to section->pieces[i], by segment of the
 * whole job, in host memory.
 */
extern uint64_t gs_row_section(const gs_section *section, const gs_plane_rows *planes,
							   uint64_t row);


#endif							/* GS_ROW_SECTION_H */
