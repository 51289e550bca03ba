/*
 * load_scalars.h
 *		Values of fixed length from their usual spellings.
 */
#ifndef GPUSORT_LOAD_SCALARS_H
#define GPUSORT_LOAD_SCALARS_H

/*
 * The value that the type's input function makes of these bytes; false: the spelling is not one of those
 * that are read here, and the function should be asked.  "room" has 16 bytes for a value by reference.
 */
typedef bool (*GpuSortScalarReader) (const char *bytes, uint32 length, char *room, Datum *value);

/* The reader for an input function; NULL: there is none. */
extern GpuSortScalarReader gpusort_scalar_reader(Oid input_function, int32 typmod);

#endif							/* GPUSORT_LOAD_SCALARS_H */
