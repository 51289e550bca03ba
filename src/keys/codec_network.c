/*
 * codec_network.c
 *		Codecs of inet/cidr, macaddr, macaddr8 and uuid.
 *
 * network_cmp() puts IPv4 before IPv6, then compares the leading bits that
 * both networks have, then the netmask lengths (shorter first), then the whole
 * addresses.  With host bits cleared, the networks can be compared as a whole:
 * where the common leading bits are equal, the shorter network has zeros where
 * the longer one may have ones, so it is smaller, or equal and then first by
 * its netmask length.  The host bits decide only between equal networks of equal
 * netmask.  So they can be moved to the left, where their length does not matter.
 *
 * The key is a string of bits: the family (1 bit), the network (32 or 128), the
 * netmask length (6 or 8) and the host bits, without trailing zero bytes.  An
 * IPv4 address thus takes 8 bytes, unless its netmask is shorter than 7 bits.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "utils/inet.h"
#include "utils/uuid.h"

#include "keys/codec_private.h"

#define INET_KEY_WORDS 5

static void
begin_inet(GpuSortEncoder *encoder)
{
	encoder->private_data = palloc(INET_KEY_WORDS * sizeof(uint64));
}

/* Returns the bits of word after the first nbits (at most 64), moved to the left. */
static inline uint64
bits_after(uint64 word, int nbits)
{
	return nbits >= 64 ? 0 : word << nbits;
}

/* Returns the first nbits (at most 64) of word, with the other bits cleared. */
static inline uint64
bits_before(uint64 word, int nbits)
{
	return nbits >= 64 ? word : word & ~(PG_UINT64_MAX >> nbits);
}

/* Fills words with the key of an IPv4 address and returns their number. */
static inline int
inet4_words(const inet_struct *address, uint64 *words)
{
	uint32		be_addr;
	uint64		addr;
	uint64		network;
	uint64		host;

	memcpy(&be_addr, address->ipaddr, sizeof(be_addr));
	addr = (uint64) pg_ntoh32(be_addr) << 32;
	network = bits_before(addr, address->bits);
	host = bits_after(addr, address->bits);

	words[0] = network >> 1 | (uint64) address->bits << 25 | host >> 39;
	words[1] = host << 25;
	return 2;
}

/* Fills words with the key of an IPv6 address and returns their number. */
static inline int
inet6_words(const inet_struct *address, uint64 *words)
{
	int			nbits = address->bits;
	uint64		network0 = load_be64(address->ipaddr);
	uint64		network1 = load_be64(address->ipaddr + 8);
	uint64		host0;
	uint64		host1;

	if (nbits >= 64)
	{
		host0 = bits_after(network1, nbits - 64);
		host1 = 0;
		network1 = bits_before(network1, nbits - 64);
	}
	else
	{
		host0 = bits_after(network0, nbits);
		if (nbits > 0)
			host0 |= network1 >> (64 - nbits);
		host1 = bits_after(network1, nbits);
		network0 = bits_before(network0, nbits);
		network1 = 0;
	}

	words[0] = UINT64CONST(1) << 63 | network0 >> 1;
	words[1] = network0 << 63 | network1 >> 1;
	words[2] = network1 << 63 | (uint64) nbits << 55 | host0 >> 9;
	words[3] = host0 << 55 | host1 >> 9;
	words[4] = host1 << 55;
	return INET_KEY_WORDS;
}

static bool
encode_inet(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	const inet_struct *address = (inet_struct *) VARDATA_ANY(detoast_packed(value));
	char	   *buffer = encoder->private_data;
	uint64		words[INET_KEY_WORDS];
	int			nwords;

	if (address->family == PGSQL_AF_INET)
		nwords = inet4_words(address, words);
	else
		nwords = inet6_words(address, words);

	while (nwords > 0 && words[nwords - 1] == 0)
		nwords--;
	for (int i = 0; i < nwords; i++)
		store_be64(buffer + i * sizeof(uint64), words[i]);

	key->data = buffer;
	key->len = nwords * sizeof(uint64);
	while (key->len > 0 && buffer[key->len - 1] == 0)
		key->len--;
	return true;
}

/* IPv4 and IPv6 addresses without host bits need 8 and 18 bytes. */
static double
extra_bytes_inet(double width, bool lazy)
{
	return width > 12 ? 18 : 8;
}

/* macaddr_cmp() and macaddr8_cmp() compare the bytes from first to last. */
static bool
encode_macaddr(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	macaddr    *mac = DatumGetMacaddrP(value);

	key->words[0] = (uint64) mac->a << 40 | (uint64) mac->b << 32 | (uint64) mac->c << 24 |
		(uint64) mac->d << 16 | (uint64) mac->e << 8 | (uint64) mac->f;
	return true;
}

static bool
encode_macaddr8(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = load_be64(DatumGetMacaddr8P(value));
	return true;
}

/* uuid_cmp() is memcmp(). */
static bool
encode_uuid(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	pg_uuid_t  *uuid = DatumGetUUIDP(value);

	key->words[0] = load_be64(uuid->data);
	key->words[1] = load_be64(uuid->data + 8);
	return true;
}

const GpuSortCodec gpusort_codec_inet = {
	.name = "inet",
	.bytes = GPUSORT_BYTES_PADDED,
	.begin = begin_inet,
	.encode = encode_inet,
	.extra_bytes = extra_bytes_inet,
};

const GpuSortCodec gpusort_codec_macaddr = {
	.name = "macaddr",
	.nwords = 1,
	.encode = encode_macaddr,
};

const GpuSortCodec gpusort_codec_macaddr8 = {
	.name = "macaddr8",
	.nwords = 1,
	.encode = encode_macaddr8,
};

const GpuSortCodec gpusort_codec_uuid = {
	.name = "uuid",
	.nwords = 2,
	.encode = encode_uuid,
};
