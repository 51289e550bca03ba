/*
 * load_scalars.h
 *		Reading values of fixed length from their usual spellings.
 */
#ifndef GPUSORT_LOAD_SCALARS_H
#define GPUSORT_LOAD_SCALARS_H

/*
 * Reads the value that the type's input function would make of these bytes.  Returns false if their
 * spelling is not one of those that are known here, and the function should be called.  "room" has
 * 16 bytes, for a value that is passed by reference.
 */
typedef bool (*GpuSortScalarReader) (const char *bytes, uint32 length, char *room, Datum *value);

/* Returns the reader that can be asked before this input function, or NULL if there is none. */
extern GpuSortScalarReader gpusort_scalar_reader(Oid input_function, int32 typmod);

#endif							/* GPUSORT_LOAD_SCALARS_H */
