/*
 * first_word.c
 *		The first word of a row's sort key; see sort.h.
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "utils/memutils.h"

#include "pg_compat/keys.h"
#include "sort/keys_private.h"
#include "sort/sort.h"

/*
 * Returns whether the operator sorts integers, whose words are the same for all widths.  Dates and
 * timestamps are integers inside, too, and belong to one family, but their words differ: they count
 * days or microseconds, with or without time zone.
 */
static bool
sorts_integers(Oid sortop)
{
	Oid			opfamily;
	Oid			type;
	bool		reverse;

	return gpusort_ordering_op(sortop, &opfamily, &type, &reverse) &&
		opfamily == INTEGER_BTREE_FAM_OID;
}

bool
gpusort_first_words_compare(Oid sortop, Oid type, Oid other_sortop, Oid other_type, Oid collation)
{
	bool		reverse;
	bool		other_reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(sortop, type, collation, &reverse, &reason);
	const GpuSortCodec *other = gpusort_codec_lookup(other_sortop, other_type, collation,
													 &other_reverse, &reason);

	return codec != NULL && other != NULL && reverse == other_reverse &&
		!gpusort_codec_is_untrusted(codec) && !gpusort_codec_is_untrusted(other) &&
		(sortop == other_sortop ? codec == other :
		 sorts_integers(sortop) && sorts_integers(other_sortop));
}

void
gpusort_begin_first_word(GpuSortFirstWord *word, Oid sortop, Oid type, Oid collation)
{
	bool		reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(sortop, type, collation, &reverse, &reason);

	if (codec == NULL)
		elog(ERROR, "gpusort: no encoding of a sort key: %s", reason);
	/*
	 * no limit is needed: codecs that keep more than a buffer for one value are untrusted, and
	 * their words are never asked for (gpusort_first_words_compare)
	 */
	gpusort_begin_key_memory(&word->memory, MaxAllocSize);
	gpusort_codec_begin(&word->encoder, codec, type, collation, &word->memory);
	word->flip = reverse ? PG_UINT64_MAX : 0;
	word->integer_bytes = codec->integer_bytes;
	word->exact = codec->bytes == GPUSORT_BYTES_NONE && codec->nwords == 1;
}

uint64
gpusort_first_word(GpuSortFirstWord *word, Datum value)
{
	const GpuSortCodec *codec = word->encoder.codec;
	GpuSortKey	key;

	if (!codec->encode(&word->encoder, value, &key))
		elog(ERROR, "gpusort: a value that was sorted has no encoding");
	if (codec->bytes == GPUSORT_BYTES_NONE)
		return key.words[0] ^ word->flip;
	return bytes_word(codec->bytes, key.data, key.len, 0) ^ word->flip;
}
