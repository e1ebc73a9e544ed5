/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Histograms of latencies; see emu.h. */
#include "dateline/emu.h"

uint64_t dl_emu_histogram_lower(unsigned int bucket)
{
	unsigned int power = bucket >> DL_EMU_HISTOGRAM_BITS;
	uint64_t within = bucket & (DL_EMU_HISTOGRAM_SUB - 1);

	return power ? (DL_EMU_HISTOGRAM_SUB + within) << (power - 1) : within;
}

uint64_t dl_emu_histogram_quantile(const struct dl_emu_histogram *h, uint32_t millionths)
{
	unsigned __int128 need = (unsigned __int128)h->count * millionths;
	unsigned __int128 seen = 0;
	uint64_t value;

	if (!h->count)
		return 0;
	for (unsigned int b = 0; b < DL_EMU_HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (!h->bucket[b] || seen * 1000000 < need)
			continue;
		value = dl_emu_histogram_lower(b);
		value += (dl_emu_histogram_lower(b + 1) - value) / 2;
		if (value < h->least)
			value = h->least;
		return value < h->largest ? value : h->largest;
	}
	return h->largest;
}

void dl_emu_histogram_join(struct dl_emu_histogram *h, const struct dl_emu_histogram *more)
{
	if (!more->count)
		return;
	if (!h->count || more->least < h->least)
		h->least = more->least;
	if (more->largest > h->largest)
		h->largest = more->largest;
	h->count += more->count;
	h->sum += more->sum;
	for (unsigned int i = 0; i < DL_EMU_HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += more->bucket[i];
}

double dl_emu_histogram_mean(const struct dl_emu_histogram *h)
{
	return h->count ? (double)h->sum / h->count : 0;
}

struct dl_emu_latency dl_emu_latency_of(const struct dl_emu_histogram *h)
{
	return (struct dl_emu_latency){
		.mean = dl_emu_histogram_mean(h) / 1000,
		.p50 = dl_emu_histogram_quantile(h, 500000) / 1e3,
		.p99 = dl_emu_histogram_quantile(h, 990000) / 1e3,
		.p999 = dl_emu_histogram_quantile(h, 999000) / 1e3,
	};
}
