/*
 * sortbenchmark.c
 *		Records like those of the sort benchmark (sortbenchmark.org): 100 bytes, the first 10 of
 *		which are the key.  Makes them, and finds out whether they come back sorted.
 *
 *		sortbenchmark generate RECORDS SEED KIND SUMMARY
 *		sortbenchmark validate SUMMARY REPORT
 *
 * "generate" writes them to its output as COPY's binary format wants them, in two columns, key
 * and payload, and their number and checksum to the file SUMMARY.  "validate" reads that format
 * from its input and compares: every key is at least the one before it, byte by byte, and there are
 * as many records, with the same checksum.  It writes what it has seen to REPORT, in lines "name
 * value", and fails if something is wrong.  So both can be the program of COPY ... PROGRAM.
 *
 * The checksum is the sum of all records' CRC-32 (that of zlib), which does not depend on their
 * order, and tells a record that was altered, or lost while another was doubled.
 *
 * The record numbered i is a function of i and the seed.  KIND says what its key is:
 *
 *		ascii		10 printable characters, each of the 95 as often
 *		binary		10 bytes
 *		skewed		printable; half of the keys share their first 6 characters, a quarter have 6
 *					others, and so on
 *
 * The payload is the number, in decimal, and letters in groups of four.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEY_BYTES		10
#define PAYLOAD_BYTES	90
#define RECORD_BYTES	(KEY_BYTES + PAYLOAD_BYTES)
#define PRINTABLE		95		/* from the space on */
#define SHARED_BYTES	6		/* of a skewed key */
#define BUFFER_BYTES	(1 << 20)

/* A record as COPY writes it: the number of columns, and each column behind its length. */
#define COLUMNS_AT		0
#define KEY_LENGTH_AT	2
#define KEY_AT			6
#define PAYLOAD_LENGTH_AT	(KEY_AT + KEY_BYTES)
#define PAYLOAD_AT		(PAYLOAD_LENGTH_AT + 4)
#define TUPLE_BYTES		(PAYLOAD_AT + PAYLOAD_BYTES)

/* The signature, no flags, no extension. */
static const char header[19] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
static const char trailer[2] = "\377\377";

typedef struct Summary
{
	uint64_t	records;
	uint64_t	checksum;
} Summary;

static uint32_t crc_tables[8][256];

static void
fail(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- checksums ---- */

/* Table n has what a byte comes to that n others follow. */
static void
make_crc_tables(void)
{
	for (uint32_t byte = 0; byte < 256; byte++)
	{
		uint32_t	crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
		crc_tables[0][byte] = crc;
	}
	for (int table = 1; table < 8; table++)
		for (uint32_t byte = 0; byte < 256; byte++)
		{
			uint32_t	before = crc_tables[table - 1][byte];

			crc_tables[table][byte] = before >> 8 ^ crc_tables[0][before & 255];
		}
}

/* Eight bytes at a time. */
static uint32_t
crc_of(const unsigned char *bytes, size_t length, uint32_t crc)
{
	crc = ~crc;
	for (; length >= 8; bytes += 8, length -= 8)
	{
		uint32_t	next = 0;

		for (int i = 0; i < 8; i++)
			next ^= crc_tables[7 - i][bytes[i] ^ (i < 4 ? crc >> 8 * i & 255 : 0)];
		crc = next;
	}
	for (; length > 0; bytes++, length--)
		crc = crc >> 8 ^ crc_tables[0][(crc ^ *bytes) & 255];
	return ~crc;
}

static void
add_record(Summary *summary, const unsigned char *tuple)
{
	uint32_t	crc = crc_of(tuple + KEY_AT, KEY_BYTES, 0);

	summary->records++;
	summary->checksum += crc_of(tuple + PAYLOAD_AT, PAYLOAD_BYTES, crc);
}

/* ---- making records ---- */

/* Of the generator splitmix64 (Steele, Lea and Flood, 2014): number i of a sequence. */
static uint64_t
random_word(uint64_t seed, uint64_t i)
{
	uint64_t	z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static void
put_printable(unsigned char *at, int length, uint64_t word)
{
	for (int i = 0; i < length; i++, word /= PRINTABLE)
		at[i] = ' ' + word % PRINTABLE;
}

static void
make_key(unsigned char *key, char kind, uint64_t first, uint64_t second, uint64_t seed)
{
	if (kind == 'b')
	{
		memcpy(key, &first, 8);
		memcpy(key + 8, &second, KEY_BYTES - 8);
		return;
	}
	put_printable(key, KEY_BYTES / 2, first);
	put_printable(key + KEY_BYTES / 2, KEY_BYTES / 2, second);
	if (kind == 's')
	{
		int			ones = 0;

		while (ones < 63 && (first >> ones & 1) != 0)
			ones++;
		put_printable(key, SHARED_BYTES, random_word(~seed, ones));
	}
}

static void
make_payload(unsigned char *payload, uint64_t i, uint64_t letters)
{
	char		number[24];

	snprintf(number, sizeof(number), "%020" PRIu64 "  ", i);
	memcpy(payload, number, 22);
	for (int group = 0; group < 16; group++, letters >>= 4)
		memset(payload + 22 + 4 * group, 'A' + (letters & 15), 4);
	memset(payload + 86, '.', 4);
}

static void
put_number(unsigned char *at, uint32_t number)
{
	number = htonl(number);
	memcpy(at, &number, 4);
}

static void
write_all(const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, stdout) != length)
		fail("cannot write records");
}

static int
generate(uint64_t records, uint64_t seed, char kind, const char *path)
{
	unsigned char tuple[TUPLE_BYTES] = {0, 2};
	Summary		summary = {0};
	FILE	   *out = fopen(path, "w");

	if (out == NULL)
		fail(path);
	put_number(tuple + KEY_LENGTH_AT, KEY_BYTES);
	put_number(tuple + PAYLOAD_LENGTH_AT, PAYLOAD_BYTES);
	write_all(header, sizeof(header));
	for (uint64_t i = 0; i < records; i++)
	{
		make_key(tuple + KEY_AT, kind, random_word(seed, 3 * i), random_word(seed, 3 * i + 1), seed);
		make_payload(tuple + PAYLOAD_AT, i, random_word(seed, 3 * i + 2));
		add_record(&summary, tuple);
		write_all(tuple, sizeof(tuple));
	}
	write_all(trailer, sizeof(trailer));
	if (fflush(stdout) != 0)
		fail("cannot write records");
	fprintf(out, "%" PRIu64 " %" PRIu64 "\n", summary.records, summary.checksum);
	if (fclose(out) != 0)
		fail(path);
	return 0;
}

/* ---- validating ---- */

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Read a record: 1, 0 at the end of all records, -1 if it is none, or the input ends in it. */
static int
read_record(unsigned char *tuple)
{
	static const unsigned char shape[KEY_AT] = {0, 2, 0, 0, 0, KEY_BYTES};
	static const unsigned char payload_length[4] = {0, 0, 0, PAYLOAD_BYTES};

	if (fread(tuple, 1, 2, stdin) != 2)
		return -1;
	if (memcmp(tuple, trailer, sizeof(trailer)) == 0)
		return 0;
	if (fread(tuple + 2, 1, TUPLE_BYTES - 2, stdin) != TUPLE_BYTES - 2 ||
		memcmp(tuple, shape, sizeof(shape)) != 0 ||
		memcmp(tuple + PAYLOAD_LENGTH_AT, payload_length, 4) != 0)
		return -1;
	return 1;
}

static bool
read_header(void)
{
	char		found[sizeof(header)];

	return fread(found, 1, sizeof(found), stdin) == sizeof(found) &&
		memcmp(found, header, sizeof(header)) == 0;
}

static int
validate(const char *summary_path, const char *report_path)
{
	unsigned char tuples[2][TUPLE_BYTES];
	Summary		wanted,
				found = {0};
	uint64_t	unordered = 0,
				equal = 0;
	double		first = 0;
	int			got = -1;
	FILE	   *in = fopen(summary_path, "r");
	FILE	   *out = fopen(report_path, "w");
	bool		right;

	if (in == NULL || fscanf(in, "%" SCNu64 " %" SCNu64, &wanted.records, &wanted.checksum) != 2)
		fail(summary_path);
	fclose(in);
	if (out == NULL)
		fail(report_path);
	if (read_header())
		while ((got = read_record(tuples[found.records & 1])) > 0)
		{
			const unsigned char *tuple = tuples[found.records & 1];
			const unsigned char *before = tuples[(found.records & 1) ^ 1];
			int			order = 0;

			if (found.records == 0)
				first = now();
			else
			{
				order = memcmp(before + KEY_AT, tuple + KEY_AT, KEY_BYTES);
				equal += order == 0;
			}
			unordered += order > 0;
			add_record(&found, tuple);
		}
	right = got == 0 && getchar() == EOF && unordered == 0 && found.records == wanted.records &&
		found.checksum == wanted.checksum;
	fprintf(out, "first %.6f\nlast %.6f\n", first, now());
	fprintf(out, "records %" PRIu64 "\nwanted_records %" PRIu64 "\n", found.records, wanted.records);
	fprintf(out, "checksum %" PRIu64 "\nwanted_checksum %" PRIu64 "\n", found.checksum, wanted.checksum);
	fprintf(out, "unordered %" PRIu64 "\nequal %" PRIu64 "\ncomplete %d\n", unordered, equal, got == 0);
	fprintf(out, "right %d\n", right);
	if (fclose(out) != 0)
		fail(report_path);
	return right ? 0 : 1;
}

static bool
known_kind(const char *kind)
{
	return strcmp(kind, "ascii") == 0 || strcmp(kind, "binary") == 0 || strcmp(kind, "skewed") == 0;
}

int
main(int argc, char **argv)
{
	make_crc_tables();
	setvbuf(stdin, NULL, _IOFBF, BUFFER_BYTES);
	setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
	if (argc == 6 && strcmp(argv[1], "generate") == 0 && known_kind(argv[4]))
		return generate(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), argv[4][0], argv[5]);
	if (argc == 4 && strcmp(argv[1], "validate") == 0)
		return validate(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "crc") == 0)	/* 0xCBF43926, for tests */
		return printf("%08" PRIX32 "\n", crc_of((const unsigned char *) "123456789", 9, 0)) < 0;
	fputs("sortbenchmark generate RECORDS SEED ascii|binary|skewed SUMMARY\n"
		  "sortbenchmark validate SUMMARY REPORT\n", stderr);
	return 2;
}
