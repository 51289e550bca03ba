/*
 * key_made.c
 *		Keys of the strings of lazy encoders, made while ties are refined; see refine_private.h.
 *
 * Keys that are kept lie in the row store behind the rows.  Each is preceded by a word, so that the
 * key has the same length as a string whose prefix word has been sorted by, and positions in it
 * count on from there.  That word holds the reference to the string itself, which is restored if
 * the keys of other rows find no room.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "prefetch.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/refine_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"

/* A run may take this part of the room that is left, since columns behind it need some, too. */
#define ROOM_PART		2

/* What the keys of a run have in common is looked for in this many bytes at most. */
#define COMMON_BYTES	4096

/* How many rows ahead references, and then strings, are prefetched. */
#define REF_AHEAD		16
#define STRING_AHEAD	8

void
gpusort_begin_made_keys(GpuSort *sort)
{
	sort->keys.most_used = 0;
	sort->keys.room_begin = gpusort_kept_keys(sort);
	if (sort->is_borrowed)
	{
		sort->keys.room_end = sort->rows.end - Min(sort->rows.places.unit, sort->rows.end);
		return;
	}
	gpusort_set_memory_aside(sort, false);
	sort->keys.room_end = gpusort_possible_rows_end(sort);
}

void
gpusort_end_made_keys(GpuSort *sort)
{
	size_t		used = sort->rows.used;

	if (sort->is_borrowed)
	{
		sort->stats.memory_bytes = Max(sort->keys.most_used, used) - used +
			gpusort_key_memory_bytes(&sort->keys.memory);
		return;
	}
	(void) gpusort_note_encoders(sort);
	/* no key is kept any more, so most_used tells what they have taken */
	sort->rows.used = Max(used, sort->keys.most_used);
	gpusort_note_memory(sort);
	sort->rows.used = used;
	sort->keys.memory.exceeded = false;
	gpusort_set_memory_aside(sort, true);
}

/*
 * Serves interrupts at row i of a run of n rows, and prefetches what the rows behind it need:
 * references, and strings from byte `from` on.
 */
static inline void
come_to_row(GpuSort *sort, const uint64 *refs, const uint32 *ids, uint32 i, uint32 n, uint32 from)
{
	if ((i + 1) % GPUSORT_INTERRUPT_ROWS == 0)
	{
		CHECK_FOR_INTERRUPTS();
		gs_progress_advance(sort->progress, GPUSORT_INTERRUPT_ROWS * GPUSORT_TIED_COST);
		MemoryContextReset(sort->scratch);
	}
	if (i + REF_AHEAD < n)
		prefetch_line(&refs[ids[i + REF_AHEAD]]);
	if (i + STRING_AHEAD < n)
		prefetch_line(string_by_ref(sort->rows.places.base, refs[ids[i + STRING_AHEAD]]) + from);
}

/* Returns the number of leading bytes, of len, that two strings share. */
static uint32
common_length(const char *a, const char *b, uint32 len)
{
	uint32		common = 0;

	for (; common + sizeof(uint64) <= len; common += sizeof(uint64))
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a + common, sizeof(x));
		memcpy(&y, b + common, sizeof(y));
		if (x != y)
			break;
	}
	while (common < len && a[common] == b[common])
		common++;
	return common;
}

uint32
gpusort_key_shared_bytes(GpuSort *sort, const GpuSortColumn *column, const uint32 *ids, uint32 n,
						 uint32 from, bool *same)
{
	const uint64 *refs = RANGE_U64(column->refs);
	const char *base = sort->rows.places.base;
	const char *first = string_by_ref(base, refs[ids[0]]);
	uint32		len = KEY_REF_LENGTH(refs[ids[0]]);
	uint32		end = len;
	bool		are_same = true;

	for (uint32 i = 1; i < n && (end > from || are_same); i++)
	{
		uint64		ref = refs[ids[i]];

		come_to_row(sort, refs, ids, i, n, from);
		if (end > from)
			end = from + common_length(first + from, string_by_ref(base, ref) + from,
									   Min(end, Max(KEY_REF_LENGTH(ref), from)) - from);
		are_same &= KEY_REF_LENGTH(ref) == len && end == len;
	}
	if (same != NULL)
		*same = are_same;
	return end > from ? end - from : 0;
}

void
gpusort_skip_shared(GpuSort *sort, KeyPlace *place, uint32 id, uint32 shared)
{
	GpuSortColumn *column = &sort->keys.columns[place->column];
	const char *string = string_by_ref(sort->rows.places.base, RANGE_U64(column->refs)[id]);
	uint32		rest = column->encoder.codec->rest_begins(&column->encoder, string,
														  place->rest + shared);

	if (rest > place->rest)
	{
		place->source = KEY_KNOWN;
		place->rest = rest;
	}
	else if (place->source == KEY_KNOWN)
		gpusort_go_on_with_keys(place);
}

/* Returns how many bytes a key has from a place on. */
static inline uint32
bytes_left(const GpuSortKey *key, const KeyPlace *place)
{
	uint32		from = place->byte - PADDED_WORD_BYTES;

	return key->len > from ? key->len - from : 0;
}

/*
 * Makes the key of a string without its first place->rest bytes.  It stays valid until the next key
 * is made, or until the scratch context is reset.  Returns false if there is no key.
 */
static bool
make_key(GpuSort *sort, const KeyPlace *place, uint64 ref, GpuSortKey *key)
{
	GpuSortEncoder *encoder = &sort->keys.columns[place->column].encoder;
	const char *string = string_by_ref(sort->rows.places.base, ref);
	MemoryContext old;
	bool		made;

	/* the key of one long string takes milliseconds */
	CHECK_FOR_INTERRUPTS();
	old = MemoryContextSwitchTo(sort->scratch);
	made = encoder->codec->complete(encoder, string + place->rest,
									KEY_REF_LENGTH(ref) - place->rest, key);
	MemoryContextSwitchTo(old);
	return made;
}

/*
 * Keeps the key of a row's string, from the place on, and lets *ref point to it.  Returns false if
 * the key can't be made, or if there is no room.
 */
static bool
keep_key(GpuSort *sort, const KeyPlace *place, uint64 *ref)
{
	GpuSortKey	key;
	uint32		left;
	size_t		offset;
	char	   *kept;

	if (!make_key(sort, place, *ref, &key))
		return false;
	left = bytes_left(&key, place);
	if (left > KEY_REF_MAX_LENGTH - PADDED_WORD_BYTES ||
		sort->rows.used + PADDED_WORD_BYTES + left > sort->keys.room_end)
		return false;
	if (!gpusort_row_store_reserve(sort, PADDED_WORD_BYTES + left, &offset))
	{
		/* there is no more memory: try no other key */
		sort->keys.room_end = sort->rows.used;
		return false;
	}
	kept = sort->rows.places.base + offset;
	memcpy(kept, ref, PADDED_WORD_BYTES);
	memcpy(kept + PADDED_WORD_BYTES, key.data + key.len - left, left);
	*ref = KEY_REF(offset, PADDED_WORD_BYTES + left);
	return true;
}

/* Returns whether the keys of n rows, each as long as that of this string, would find room. */
static bool
is_room_likely(GpuSort *sort, const KeyPlace *place, uint64 ref, uint32 n)
{
	size_t		room = sort->keys.room_end - Min(sort->rows.used, sort->keys.room_end);
	GpuSortKey	key;

	if ((size_t) n * PADDED_WORD_BYTES > room / ROOM_PART || !make_key(sort, place, ref, &key))
		return false;
	return (size_t) n * (PADDED_WORD_BYTES + bytes_left(&key, place)) <= room / ROOM_PART;
}

void
gpusort_keep_keys(GpuSort *sort, KeyPlace *place, const uint32 *ids, uint32 n)
{
	uint64	   *refs = RANGE_U64(sort->keys.columns[place->column].refs);
	GpuSortKeptKeys none = gpusort_kept_keys(sort);
	uint32		kept = 0;

	if (is_room_likely(sort, place, refs[ids[0]], n))
		for (; kept < n && keep_key(sort, place, &refs[ids[kept]]); kept++)
			come_to_row(sort, refs, ids, kept, n, place->rest);
	sort->keys.most_used = Max(sort->keys.most_used, sort->rows.used);
	MemoryContextReset(sort->scratch);
	if (kept == n)
	{
		place->source = KEY_KEPT;
		place->byte = PADDED_WORD_BYTES;
		return;
	}
	while (kept-- > 0)
		memcpy(&refs[ids[kept]], string_by_ref(sort->rows.places.base, refs[ids[kept]]),
			   PADDED_WORD_BYTES);
	gpusort_forget_kept_keys(sort, none);
}

/* Makes the key of each row, and fetches the word at the place; see gpusort_fetch_made_words(). */
static RunWords
fetch_key_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n, uint64 *words,
				size_t stride)
{
	GpuSortColumn *column = &sort->keys.columns[place->column];
	const uint64 *refs = RANGE_U64(column->refs);
	RunWords	found = {.same = true};
	char		first[COMMON_BYTES];

	for (uint32 i = 0; i < n; i++)
	{
		GpuSortKey	key;
		const char *data;
		uint32		left;
		uint64		word;

		come_to_row(sort, refs, ids, i, n, place->rest);
		if (!make_key(sort, place, refs[ids[i]], &key))
		{
			found.refused = true;
			break;
		}
		left = bytes_left(&key, place);
		data = key.data + key.len - left;
		word = load_padded_word(data, left) ^ column->flip;
		found.longer |= left > 0;
		if (i == 0)
		{
			found.first = word;
			found.common = Min(left, COMMON_BYTES);
			memcpy(first, data, found.common);
		}
		found.same &= word == found.first;
		if (found.same)
			found.common = common_length(first, data, Min(found.common, left));
		*words = word;
		words = (uint64 *) ((char *) words + stride);
	}
	MemoryContextReset(sort->scratch);
	return found;
}

/* Fetches the known word of the rest of each row's string; see gpusort_fetch_made_words(). */
static RunWords
fetch_known_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n, uint64 *words,
				  size_t stride)
{
	GpuSortColumn *column = &sort->keys.columns[place->column];
	GpuSortEncoder *encoder = &column->encoder;
	const uint64 *refs = RANGE_U64(column->refs);
	const char *base = sort->rows.places.base;
	RunWords	found = {.same = true};

	for (uint32 i = 0; i < n; i++)
	{
		uint64		ref = refs[ids[i]];
		const char *rest = string_by_ref(base, ref) + place->rest;
		uint64		word;

		come_to_row(sort, refs, ids, i, n, place->rest);
		if (!encoder->codec->known_word(encoder, rest, KEY_REF_LENGTH(ref) - place->rest, &word))
		{
			found.refused = true;
			break;
		}
		word ^= column->flip;
		if (i == 0)
			found.first = word;
		found.same &= word == found.first;
		*words = word;
		words = (uint64 *) ((char *) words + stride);
	}
	return found;
}

RunWords
gpusort_fetch_made_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n,
						 uint64 *words, size_t stride)
{
	gs_progress_advance(sort->progress, n % GPUSORT_INTERRUPT_ROWS * GPUSORT_TIED_COST);
	return place->source == KEY_KNOWN ? fetch_known_words(sort, place, ids, n, words, stride)
		: fetch_key_words(sort, place, ids, n, words, stride);
}
