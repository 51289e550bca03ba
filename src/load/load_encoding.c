/*
 * load_encoding.c
 *		The encoding of a COPY's input, and that of the database; see load_input_private.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "load/load_input_private.h"
#include "parse/gs_parse.h"

/* This many bytes are converted at a time, so that they stay in the processor's cache. */
#define PIECE_BYTES		8192

/*
 * A stretch of at least this many ASCII bytes is copied and not converted, which is worth another
 * call of the conversion function.
 */
#define ASCII_BYTES		512

struct GpuSortLoadEncoding
{
	int			encoding;
	Oid			conversion;		/* the conversion function, or InvalidOid: only verified */
	bool		embeds_ascii;	/* ASCII bytes can be parts of other characters */
	char	   *plain;
	Size		plain_bytes;
	char	   *text;
	Size		text_bytes;
};

/* ---------- whether an encoding is ours ---------- */

static bool
has_high_bit(const gs_dialect *dialect)
{
	return IS_HIGHBIT_SET(dialect->delimiter) || IS_HIGHBIT_SET(dialect->quote) ||
		IS_HIGHBIT_SET(dialect->escape);
}

/*
 * Returns whether the conversion may make one character of two.  Then it matters where the pieces
 * end that are converted at a time.
 */
static bool
combines(int encoding, int own)
{
	return encoding == PG_UTF8 && own == PG_EUC_JIS_2004;
}

const char *
gpusort_load_why_not_encoding(int encoding, const gs_dialect *dialect)
{
	int			own = GetDatabaseEncoding();

	if (encoding == own || encoding == PG_SQL_ASCII || own == PG_SQL_ASCII)
		return NULL;
	if (has_high_bit(dialect))
		return "delimiter, quote or escape is no character of ASCII, and the input is converted";
	if (combines(encoding, own))
		return "the conversion of the input makes one character of two";
	/* a user's conversion may do anything, and the lack of one is an error */
	if (FindDefaultConversionProc(encoding, own) >= FirstNormalObjectId ||
		!OidIsValid(FindDefaultConversionProc(encoding, own)))
		return "the conversion of the input is not the server's own";
	return NULL;
}

/* ---------- beginning and ending ---------- */

GpuSortLoadEncoding *
gpusort_encoding_begin(const GpuSortLoadTask *task)
{
	GpuSortLoadEncoding *encoding = palloc0(sizeof(GpuSortLoadEncoding));

	encoding->encoding = task->encoding;
	encoding->conversion = task->conversion;
	encoding->embeds_ascii = OidIsValid(task->conversion) &&
		PG_ENCODING_IS_CLIENT_ONLY(task->encoding);
	if (task->dialect.binary && IsParallelWorker() && PrepareClientEncoding(task->encoding) < 0)
		elog(ERROR, "could not convert from the encoding of the client");
	return encoding;
}

void
gpusort_encoding_receive(const GpuSortLoadTask *task, bool begin)
{
	if (task->dialect.binary && IsParallelWorker())
		SetClientEncoding(begin ? task->encoding : GetDatabaseEncoding());
}

void
gpusort_encoding_end(GpuSortLoadEncoding *encoding)
{
	if (encoding->plain != NULL)
		pfree(encoding->plain);
	if (encoding->text != NULL)
		pfree(encoding->text);
	pfree(encoding);
}

bool
gpusort_encoding_converts(const GpuSortLoadEncoding *encoding)
{
	return OidIsValid(encoding->conversion);
}

static void
make_room(GpuSortLoadEncoding *encoding, char **buffer, Size *has, Size bytes)
{
	if (bytes <= *has)
		return;
	if (*buffer != NULL)
		pfree(*buffer);
	*buffer = NULL;
	*buffer = MemoryContextAllocHuge(GetMemoryChunkContext(encoding), bytes);
	*has = bytes;
}

/* ---------- records ---------- */

/* Returns how many bytes there are before the first one that is not ASCII, or up to seven fewer. */
static Size
count_ascii(const char *data, Size bytes)
{
	Size		at = 0;
	uint64		word;

	for (; at + sizeof(word) <= bytes; at += sizeof(word))
	{
		memcpy(&word, data + at, sizeof(word));
		if (word & UINT64CONST(0x8080808080808080))
			return at;
	}
	while (at < bytes && !IS_HIGHBIT_SET(data[at]))
		at++;
	return at;
}

/*
 * Returns the length of a character of several bytes, or as much of it as there is.
 * pg_encoding_mblen() may look at two bytes.
 */
static Size
character_bytes(int encoding, const char *at, Size left)
{
	return left < 2 ? left : Min(left, (Size) pg_encoding_mblen(encoding, at));
}

const char *
gpusort_encoding_mask_nonascii(GpuSortLoadEncoding *encoding, const char *data, Size bytes)
{
	Size		at = 0;

	if (!encoding->embeds_ascii)
		return data;
	make_room(encoding, &encoding->plain, &encoding->plain_bytes, bytes);
	while (at < bytes)
	{
		Size		count = IS_HIGHBIT_SET(data[at]) ? 0
			: Max(count_ascii(data + at, bytes - at), 1);

		memcpy(encoding->plain + at, data + at, count);
		at += count;
		if (count == 0)
		{
			count = character_bytes(encoding->encoding, data + at, bytes - at);
			memset(encoding->plain + at, HIGHBIT, count);
			at += count;
		}
	}
	return encoding->plain;
}

Size
gpusort_encoding_records(GpuSortLoadEncoding *encoding, const gs_dialect *dialect, const char *data,
						 Size bytes)
{
	gs_chunk	chunk;

	if (dialect->binary)
		return gs_binary_cut(dialect, data, bytes);
	gs_chunk_scan(dialect, gpusort_encoding_mask_nonascii(encoding, data, bytes), bytes, &chunk);
	return chunk.from[GS_STATE_PLAIN].last;
}

Size
gpusort_encoding_find(GpuSortLoadEncoding *encoding, const gs_dialect *dialect, const char *data,
					  Size bytes, uint64 count, gs_records *records)
{
	const char *plain = gpusort_encoding_mask_nonascii(encoding, data, bytes);
	Size		begin = 0;

	while (count > 0)
	{
		gs_records_find(dialect, plain + begin, bytes - begin, false, records);
		if (records->nrecords == 0)
			elog(ERROR, "records have disappeared from the input of a COPY");
		if (count < records->nrecords)
			return begin + gs_record_begin(records, dialect, count);
		count -= records->nrecords;
		begin += records->consumed;
	}
	return begin;
}

/* ---------- text ---------- */

/*
 * Converts as many bytes as possible.  Returns how many were converted, and in *made how many bytes
 * of text they have become.
 */
static Size
convert(const GpuSortLoadEncoding *encoding, const char *data, Size bytes, char *text, Size *made)
{
	Size		at = 0;

	*made = 0;
	while (at < bytes)
	{
		Size		ascii = count_ascii(data + at, bytes - at);
		int			piece = Min(bytes - at, PIECE_BYTES);
		int			count;

		if (ascii >= ASCII_BYTES || ascii == bytes - at)
		{
			memcpy(text + *made, data + at, ascii);
			at += ascii;
			*made += ascii;
			continue;
		}
		/* a character that the end of the piece cuts in two is left to the next piece */
		count = pg_do_encoding_conversion_buf(encoding->conversion, encoding->encoding,
											  GetDatabaseEncoding(), (unsigned char *) data + at,
											  piece, (unsigned char *) text + *made,
											  piece * MAX_CONVERSION_GROWTH + 1, true);
		if (count == 0)
			break;
		at += count;
		*made += strlen(text + *made);
	}
	return at;
}

GpuSortLoadText
gpusort_encoding_text(GpuSortLoadEncoding *encoding, const char *data, Size bytes)
{
	GpuSortLoadText text = {data, bytes, bytes, true};

	if (!OidIsValid(encoding->conversion))
	{
		text.valid = pg_encoding_verifymbstr(encoding->encoding, data, bytes);
		return text;
	}
	if (count_ascii(data, bytes) == bytes)
		return text;
	make_room(encoding, &encoding->text, &encoding->text_bytes, bytes * MAX_CONVERSION_GROWTH + 1);
	text.is_whole = convert(encoding, data, bytes, encoding->text, &text.bytes) == bytes;
	text.data = encoding->text;
	text.valid = text.bytes;
	return text;
}
