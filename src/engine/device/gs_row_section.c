/*
 * gs_row_section.c
 *		Reading a section of the key of one row from planes in segments.
 */
#include "engine/device/gs_row_section.h"
#include "engine/gs_pack.h"

uint64_t
gs_row_section(const gs_section *section, const gs_plane_rows *planes, uint64_t row)
{
	uint64_t	s = row >> GS_SEGMENT_SHIFT;
	uint64_t	key = 0;

	for (unsigned i = 0; i < section->npieces; i++)
	{
		gs_field	field = *section->pieces[i].field;
		gs_section	piece = {.width = section->pieces[i].width, .npieces = 1};

		field.words = planes[i].words == NULL ? NULL : planes[i].words[s];
		field.nulls = planes[i].nulls == NULL ? NULL : planes[i].nulls[s];
		piece.pieces[0] = section->pieces[i];
		piece.pieces[0].field = &field;
		key = key << (piece.width - 1) << 1 | gs_pack_row(&piece, row & (GS_SEGMENT_ROWS - 1));
	}
	return key;
}
