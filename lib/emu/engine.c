/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"
#include <errno.h>
#include "emu/emu.h"
void dl_emu_config_init(struct dl_emu_config *c)
{
	*c = (struct dl_emu_config){
		.switching = DL_CUT_THROUGH,
		.flow_control = DL_CREDIT_IBA,
		.mtu = 2048,
		.flit = 64,
		.buffer = 8 * 33,
		.smp_buffer = 4,
		.switch_latency_ps = 100000,
		.cable_mm_all = 2000,
		.default_speed = DL_QDR,
		.default_width = 4,
		.default_vls = 8,
		.tenure = 4096,
		.check_ps = UINT64_C(100000000),
		.starvation_ps = UINT64_C(1000000000),
		.stop_on_deadlock = true,
	};
	dl_arb_options_init(&c->arbitration);
}
int dl_emu_new(const struct dl_tables *t, const struct dl_emu_config *c,
	       const struct dl_emu_source *source, const struct dl_log *log,
	       struct dl_emu **out)
{
	(void)t; (void)c; (void)source; (void)log; (void)out;
	return -ENOSYS;
}
void dl_emu_free(struct dl_emu *emu) { (void)emu; }
int dl_emu_run(struct dl_emu *emu, uint64_t until)
{ (void)emu; (void)until; return -ENOSYS; }
uint64_t dl_emu_now(const struct dl_emu *emu) { (void)emu; return 0; }
int dl_emu_swap_tables(struct dl_emu *emu, const struct dl_tables *t)
{ (void)emu; (void)t; return -ENOSYS; }
int dl_emu_fault(struct dl_emu *emu, const struct dl_emu_fault *fault)
{ (void)emu; (void)fault; return -ENOSYS; }
const struct dl_emu_totals *dl_emu_totals(struct dl_emu *emu)
{ (void)emu; return NULL; }
const struct dl_emu_level *dl_emu_level(const struct dl_emu *emu,
					unsigned int level)
{ (void)emu; (void)level; return NULL; }
const struct dl_emu_port *dl_emu_port(struct dl_emu *emu, uint32_t port)
{ (void)emu; (void)port; return NULL; }
struct dl_emu_vl dl_emu_vl(const struct dl_emu *emu, uint32_t port,
			   unsigned int vl)
{ (void)emu; (void)port; (void)vl; return (struct dl_emu_vl){ 0 }; }
unsigned int dl_emu_port_vls(const struct dl_emu *emu, uint32_t port)
{ (void)emu; (void)port; return 0; }
const struct dl_emu_pair *dl_emu_pair(const struct dl_emu *emu, uint32_t src,
				      uint32_t dst)
{ (void)emu; (void)src; (void)dst; return NULL; }
uint32_t dl_emu_cycle(const struct dl_emu *emu,
		      const struct dl_cycle_step **cycle)
{ (void)emu; (void)cycle; return 0; }
uint32_t dl_emu_starved(const struct dl_emu *emu, struct dl_emu_starved *out,
			uint32_t max)
{ (void)emu; (void)out; (void)max; return 0; }
void dl_emu_reset_stats(struct dl_emu *emu) { (void)emu; }
