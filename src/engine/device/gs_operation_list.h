/*
 * gs_operation_list.h
 *		Operations on a device's queues: the list that gs_device_ops and those who implement it take
 *		them from.
 *
 * It is included where the macros below are defined, which make something of each line and are
 * undefined at its end; so there is no include guard.
 *
 * GS_OPERATION(name, argument, ...): an operation, which is called with a device, a queue and the
 * arguments, and returns a status.
 *
 * GS_ANSWERING(name, argument, ...): an operation that waits for its answer; the same as the above
 * where it is not defined.
 *
 * GS_TEMP_BYTES(name, argument, ...): a function that is called with a device and the arguments,
 * and returns how much temporary device memory an operation needs.
 *
 * An argument is a type and a name.  If it points to host memory, .bytes says to how many bytes.
 * If there are arrays by segment in what it is or points to, .segments says how long these are.
 * All of that is copied before the operation returns.
 */
#ifndef GS_ANSWERING
#define GS_ANSWERING GS_OPERATION
#endif

GS_OPERATION(upload, (void *, to), (const void *, from), (size_t, bytes))
GS_OPERATION(download, (void *, to), (const void *, from), (size_t, bytes))

/* Copies from another device, or from this one, to memory of the device whose queue it is. */
GS_OPERATION(copy, (void *, to), (gs_device *, from_device), (const void *, from), (size_t, bytes))
GS_OPERATION(clear, (void *, memory), (size_t, bytes))

/*
 * Folds rows of a plane into *stats, which is device memory set to GS_PLANE_STATS_INIT, and into
 * *alphabets, which is NULL or device memory set to zeros.
 */
GS_OPERATION(plane_stats, (gs_rows, rows),
			 (gs_plane_rows, plane, .segments = gs_rows_segments(rows)),
			 (gs_plane_stats *, stats), (gs_alphabets *, alphabets))

/*
 * Packs the section of each row, at most 64 bits, into packed[segment][row], which may be the words
 * of a plane themselves.  planes[i] belongs to section->pieces[i]; the pieces' fields say how words
 * are packed.
 */
GS_OPERATION(pack, (gs_rows, rows), (const gs_section *, section, .bytes = sizeof(*section)),
			 (const gs_plane_rows *, planes, .bytes = section->npieces * sizeof(*planes),
			  .segments = gs_rows_segments(rows)),
			 (uint64_t *const *, packed, .bytes = gs_rows_segments(rows) * sizeof(*packed)))

/*
 * Adds the number of keys of each digit below counted[i] to counts[i][digit], in device memory.
 * tile_counts, of tile_counts_bytes(), is filled for a scatter() that wants it, and may be NULL; it
 * is allowed only with ncounted == 1 and all keys counted.
 */
GS_OPERATION(histogram, (gs_rows, rows), (gs_keys, keys, .segments = gs_rows_segments(rows)),
			 (unsigned, ncounted),
			 (const gs_counted *, counted, .bytes = ncounted * sizeof(*counted)),
			 (uint64_t (*)[GS_DEVICE_DIGITS], counts), (void *, tile_counts))
GS_TEMP_BYTES(tile_counts_bytes, (gs_rows, rows))

/*
 * Scatters rows to the positions of their bins.  That is stable: rows of a bin go to successive
 * positions, in the order of rows.
 */
GS_OPERATION(scatter, (const gs_scatter *, scatter, .bytes = sizeof(*scatter)))
GS_TEMP_BYTES(scatter_temp_bytes, (gs_rows, rows))

/*
 * Refines pairs that are in the order of the bits from low_bit up: puts each run of pairs that
 * agree in those bits, of at most GS_LONG_RUN rows, in the order of the whole key, stably.  Sets
 * *unsorted, device memory, to 1 if a longer run, or one of more than GS_MANY_RUNS runs that are
 * longer than GS_SHORT_RUN, is out of order; such runs stay as they are.  temp is that of sort().
 */
GS_OPERATION(sort_runs, (gs_pairs, pairs), (unsigned, id_bytes), (uint64_t, nrows),
			 (unsigned, low_bit), (void *, temp), (uint32_t *, unsorted))
GS_TEMP_BYTES(sort_temp_bytes, (unsigned, id_bytes), (uint64_t, nrows))

/*
 * Sets bit p of `bitmap` (device memory, whose bit 0 is position 0) for every row i > 0 whose key
 * equals that of row i - 1, and for row 0 if `tied`; p is first_bit + i, or first_bit +
 * positions[i] if positions is not NULL.  Calls on other queues may set other bits of the same
 * words at the same time.
 */
GS_OPERATION(mark_equal, (const uint64_t *, keys), (const uint32_t *, positions),
			 (uint64_t, nrows), (bool, tied), (unsigned, first_bit), (uint32_t *, bitmap))

/*
 * Finds how many rows of a sorted array have the key of a neighbour, and in how many runs.  ranks,
 * 8 bytes a row, keeps what take_ties() needs.
 */
GS_ANSWERING(find_ties, (const uint64_t *, keys), (uint64_t, nrows), (uint64_t *, ranks),
			 (void *, temp), (gs_tie_counts *, counts))
GS_TEMP_BYTES(ties_temp_bytes, (uint64_t, nrows))

/*
 * Takes the tied rows out, in order.  Row i of the array is written to to_positions[] (as
 * positions[i], or as i if positions is NULL), to.ids[], and to.keys[]: the number of its run <<
 * section->width | the section of the row, which is read from the planes (by segment of the whole
 * job, in host memory).
 */
GS_OPERATION(take_ties, (gs_pairs, from), (const uint32_t *, positions), (const uint64_t *, ranks),
			 (uint64_t, nrows), (unsigned, id_bytes),
			 (const gs_section *, section, .bytes = sizeof(*section)),
			 (const gs_plane_rows *, planes, .bytes = section->npieces * sizeof(*planes),
			  .segments = job_segments),
			 (uint64_t, job_segments), (uint32_t *, to_positions), (gs_pairs, to))

/* Sets ids[positions[i]] = from_ids[i]. */
GS_OPERATION(put_ids, (void *, ids), (const uint32_t *, positions), (const void *, from_ids),
			 (unsigned, id_bytes), (uint64_t, nrows))

/* Sets ids[i] = first + i. */
GS_OPERATION(count_up, (void *, ids), (unsigned, id_bytes), (uint64_t, first), (uint64_t, nrows))

/*
 * Adds rows, as they came, to *sums, device memory: their ids are their numbers.  If keys.words is
 * NULL, adds them to sums->ids only.
 */
GS_OPERATION(sum_rows, (gs_rows, rows), (gs_keys, keys, .segments = gs_rows_segments(rows)),
			 (gs_row_sums *, sums))

/* Checks sorted rows, and adds what it finds to *check, device memory. */
GS_OPERATION(check_rows, (const gs_checked_rows *, rows, .bytes = sizeof(*rows)),
			 (gs_order_check *, check))

/*
 * Finds out where rows with lengths of their own go; sets *units, which all of them take together.
 */
GS_ANSWERING(place_rows, (const gs_gather *, gather, .bytes = sizeof(*gather)),
			 (uint64_t *, units))
GS_TEMP_BYTES(place_temp_bytes, (uint64_t, nrows))

/* Copies rows; if stride is 0, place_rows() must have been called for them. */
GS_OPERATION(gather_rows, (const gs_gather *, gather, .bytes = sizeof(*gather)))

/*
 * Finds where the records and fields of a text lie.  If there is something odd in the text
 * (gs_dialect.h), the records and fields before that are found, and others may be or not.
 */
GS_OPERATION(find_fields, (const gs_text *, text, .bytes = sizeof(*text)))
GS_TEMP_BYTES(find_fields_temp_bytes, (uint32_t, bytes))

#undef GS_OPERATION
#undef GS_ANSWERING
#undef GS_TEMP_BYTES
