/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A histogram of latencies with a bounded relative error, in fixed memory.
 *
 * Values below 64 have a bucket each; above, every power of two is divided
 * into 64 buckets of the same width.  A quantile is given as the middle of
 * its bucket, which is off by at most 1/128 of the value.  Mean, least and
 * largest are exact.
 */
#ifndef DATELINE_HISTOGRAM_H
#define DATELINE_HISTOGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_EMU_HISTOGRAM_BITS 6
#define DL_EMU_HISTOGRAM_SUB (1u << DL_EMU_HISTOGRAM_BITS)
#define DL_EMU_HISTOGRAM_BUCKETS ((65 - DL_EMU_HISTOGRAM_BITS) * DL_EMU_HISTOGRAM_SUB)
/* The largest relative error of a quantile. */
#define DL_EMU_HISTOGRAM_ERROR (1.0 / (2 * DL_EMU_HISTOGRAM_SUB))

struct dl_emu_histogram {
	uint64_t count;
	uint64_t least, largest; /* undefined while count is 0 */
	unsigned __int128 sum;
	uint64_t bucket[DL_EMU_HISTOGRAM_BUCKETS];
};

static inline unsigned int dl_emu_histogram_index(uint64_t value)
{
	unsigned int top;

	if (value < DL_EMU_HISTOGRAM_SUB)
		return value;
	top = 63 - __builtin_clzll(value);
	return ((top - DL_EMU_HISTOGRAM_BITS + 1) << DL_EMU_HISTOGRAM_BITS) +
	       (value >> (top - DL_EMU_HISTOGRAM_BITS) & (DL_EMU_HISTOGRAM_SUB - 1));
}

static inline void dl_emu_histogram_add(struct dl_emu_histogram *h, uint64_t value)
{
	if (!h->count || value < h->least)
		h->least = value;
	if (value > h->largest)
		h->largest = value;
	h->count++;
	h->sum += value;
	h->bucket[dl_emu_histogram_index(value)]++;
}

/* The smallest value of a bucket; it stands for those below the next one's. */
uint64_t dl_emu_histogram_lower(unsigned int bucket);

/*
 * The value that `millionths` of all values do not exceed; 0 when there are
 * none.
 */
uint64_t dl_emu_histogram_quantile(const struct dl_emu_histogram *h, uint32_t millionths);

/* Add all values of one to another. */
void dl_emu_histogram_join(struct dl_emu_histogram *h, const struct dl_emu_histogram *more);

/* The mean, 0 when there are no values. */
double dl_emu_histogram_mean(const struct dl_emu_histogram *h);

/* The usual quantiles of latencies in picoseconds, as nanoseconds. */
struct dl_emu_latency {
	double mean, p50, p99, p999;
};

struct dl_emu_latency dl_emu_latency_of(const struct dl_emu_histogram *h);

#ifdef __cplusplus
}
#endif
#endif
