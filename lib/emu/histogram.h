/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A histogram of latencies with a bounded relative error, in fixed memory.
 *
 * Values below 64 have a bucket each; above, every power of two is divided
 * into 64 buckets of the same width.  A quantile is given as the middle of
 * its bucket, which is off by at most 1/128 of the value.  Mean, least and
 * largest are exact.
 */
#ifndef DL_HISTOGRAM_H
#define DL_HISTOGRAM_H

#include <stdint.h>

#define DL_HISTOGRAM_BITS 6
#define DL_HISTOGRAM_SUB (1u << DL_HISTOGRAM_BITS)
#define DL_HISTOGRAM_BUCKETS ((65 - DL_HISTOGRAM_BITS) * DL_HISTOGRAM_SUB)
/* The largest relative error of a quantile. */
#define DL_HISTOGRAM_ERROR (1.0 / (2 * DL_HISTOGRAM_SUB))

struct dl_histogram {
	uint64_t count;
	uint64_t least, largest;	/* undefined while count is 0 */
	unsigned __int128 sum;
	uint64_t bucket[DL_HISTOGRAM_BUCKETS];
};

static inline unsigned int dl_histogram_index(uint64_t value)
{
	unsigned int top;

	if (value < DL_HISTOGRAM_SUB)
		return value;
	top = 63 - __builtin_clzll(value);
	return ((top - DL_HISTOGRAM_BITS + 1) << DL_HISTOGRAM_BITS) +
	       (value >> (top - DL_HISTOGRAM_BITS) & (DL_HISTOGRAM_SUB - 1));
}

static inline void dl_histogram_add(struct dl_histogram *h, uint64_t value)
{
	if (!h->count || value < h->least)
		h->least = value;
	if (value > h->largest)
		h->largest = value;
	h->count++;
	h->sum += value;
	h->bucket[dl_histogram_index(value)]++;
}

/* The smallest value of a bucket, and how many values it stands for. */
uint64_t dl_histogram_lower(unsigned int bucket);
uint64_t dl_histogram_width(unsigned int bucket);

/*
 * The value that `millionths` of all values do not exceed; 0 when there are
 * none.
 */
uint64_t dl_histogram_quantile(const struct dl_histogram *h,
			       uint32_t millionths);

/* The mean, 0 when there are no values. */
double dl_histogram_mean(const struct dl_histogram *h);

#endif
