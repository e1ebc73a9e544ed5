/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The subnet management agent of a node: the attributes that subnet managers read
 * and write (IBA volume 1, chapter 14).  What a write changes is judged at once.
 */
#include "config.h"

#include <string.h>

#include "sim.h"

#define BAD_FIELD 0x1C	   /* status: invalid attribute or modifier */
#define BAD_ATTRIBUTE 0x0C /* status: not supported */
#define BLOCK 64
#define MFT_BLOCK 32
#define NODE_INFO 0x11
#define SMINFO 0x20

/* ---- after power on ----------------------------------------------------------- */

uint8_t sim_agent_width(unsigned int lanes)
{
	return lanes == 1 ? 1 : 2;
}

/* All links are down. */
static void reset_port(struct sim *sim, struct sim_node *n, unsigned int num)
{
	struct sim_port *p = sim_port_at(sim, n, num);
	ib_port_info_t *info = &p->info;
	bool own = n->is_switch && !num;

	memset(info, 0, sizeof(*info));
	memset(p->vlarb, 0, sizeof(p->vlarb));
	memset(p->pkeys, 0, sizeof(p->pkeys));
	memset(p->sl2vl, 0, 8 * (n->nports + 1u));
	p->pkeys[0] = p->pkeys[1] = 0xFF;
	p->joined = false;
	p->lease_ends = 0;
	info->capability_mask = IB_PORT_CAP_HAS_TRAP | IB_PORT_CAP_HAS_NOTICE |
				IB_PORT_CAP_HAS_SL_MAP | IB_PORT_CAP_HAS_SYS_IMG_GUID |
				IB_PORT_CAP_HAS_CLIENT_REREG;
	if (!sim->o.plain)
		info->capability_mask |= IB_PORT_CAP_HAS_EXT_SPEEDS;
	info->local_port_num = num;
	info->link_width_enabled = info->link_width_supported = 3;
	info->link_width_active = sim_agent_width(sim->fabric->ports[n->first + num].width);
	info->link_speed = 4 << 4 | 7;
	info->link_speed_ext = 2 << 4 | 3;
	info->link_speed_ext_enabled = 3;
	info->mtu_smsl = IB_MTU_LEN_4096 << 4;
	info->mtu_cap = IB_MTU_LEN_4096;
	info->vl_cap = 4 << 4; /* VL 0 to 7 */
	info->vl_enforce = 4 << 4;
	if (sim->o.raise) /* OpenSM raises it */
		info->vl_enforce = (uint8_t)(1 + sim_random(&sim->random_net, 4)) << 4;
	info->vl_arb_high_cap = info->vl_arb_low_cap = 8;
	info->guid_cap = 8;
	info->resp_time_value = 8;
	info->state_info1 = 7 << 4 | (own ? IB_LINK_ACTIVE : IB_LINK_DOWN);
	info->state_info2 = (own ? IB_PORT_PHYS_STATE_LINKUP : IB_PORT_PHYS_STATE_POLLING) << 4 | 2;
}

void sim_agent_reset(struct sim *sim, struct sim_node *n)
{
	n->is_keyed = false;
	memset(&n->switch_info, 0, sizeof(n->switch_info));
	if (n->is_switch) {
		n->switch_info.lin_cap = htobe16(SIM_LFT_SIZE);
		n->switch_info.mcast_cap = htobe16(SIM_MLIDS);
		n->switch_info.enforce_cap = htobe16(32);
		n->switch_info.flags = sim->o.enhanced ? 0x08 : 0;
		memset(n->lft, SIM_NO_PORT, SIM_LFT_SIZE);
		memset(n->mft, 0, SIM_MLIDS * SIM_MFT_POSITIONS * sizeof(*n->mft));
	}
	for (unsigned int o = !n->is_switch; o <= n->nports; o++)
		reset_port(sim, n, o);
}

/* ---- PortInfo ----------------------------------------------------------------- */

static void set_end_port(struct sim_port *p, const ib_port_info_t *in)
{
	ib_port_info_t *info = &p->info;

	info->m_key = in->m_key;
	info->subnet_prefix = in->subnet_prefix;
	info->base_lid = in->base_lid;
	info->master_sm_base_lid = in->master_sm_base_lid;
	info->m_key_lease_period = in->m_key_lease_period;
	info->mkey_lmc = in->mkey_lmc;
	if (!in->m_key_violations)
		info->m_key_violations = 0;
	info->subnet_timeout = in->subnet_timeout & 0x1F;
	info->mtu_smsl = (info->mtu_smsl & 0xF0) | (in->mtu_smsl & 0x0F);
}

static int set_port_state(struct sim *sim, struct sim_port *p, const ib_port_info_t *in)
{
	unsigned int state = in->state_info1 & 0xF, was = sim_port_state(p);

	if (!state && in->state_info2 >> 4 != IB_PORT_PHYS_STATE_POLLING)
		return 0;
	if (state == IB_LINK_DOWN || !state) {
		if (p->peer != DL_NONE)
			sim_nodes_bounce(sim, (uint32_t)(p - sim->ports));
		return 0;
	}
	if ((state == IB_LINK_ARMED && was >= IB_LINK_INIT) ||
	    (state == IB_LINK_ACTIVE && was >= IB_LINK_ARMED)) {
		p->info.state_info1 = (p->info.state_info1 & 0xF0) | state;
		return 0;
	}
	return BAD_FIELD;
}

static int set_port(struct sim *sim, struct sim_node *n, struct sim_port *p,
		    const ib_port_info_t *in)
{
	ib_port_info_t *info = &p->info;
	unsigned int vls = info->vl_enforce >> 4;
	int status = 0;

	if (!n->is_switch || !p->num) {
		set_end_port(p, in);
		n->is_keyed = false; /* whoever writes this has the key, or sets another */
	}
	if (in->mtu_smsl >> 4)
		info->mtu_smsl = (in->mtu_smsl & 0xF0) | (info->mtu_smsl & 0x0F);
	if (in->vl_enforce >> 4)
		info->vl_enforce = in->vl_enforce;
	info->vl_high_limit = in->vl_high_limit;
	info->vl_stall_life = in->vl_stall_life;
	info->error_threshold = in->error_threshold;
	if (n->is_switch && vls != info->vl_enforce >> 4)
		sim_judge_map(sim, n, SIM_NO_PORT, p->num, NULL, vls);
	if (p->num)
		status = set_port_state(sim, p, in);
	sim_judge_port(sim, (uint32_t)(p - sim->ports), true);
	if (!n->is_switch && in->subnet_timeout & 0x80)
		sim_client_join(sim, (uint32_t)(p - sim->ports));
	return status;
}

/* What a node claims that is not so; what it takes and does stays as it is. */
static void lie_about_port(unsigned int lie, bool external, ib_port_info_t *info)
{
	switch (lie) {
	case 1: /* one VL */
		info->vl_cap = 1 << 4;
		info->vl_enforce = 1 << 4 | (info->vl_enforce & 0xF);
		break;
	case 2: /* a link that trains */
		if (external && (info->state_info1 & 0xF) > IB_LINK_INIT)
			info->state_info1 = (info->state_info1 & 0xF0) | IB_LINK_INIT;
		break;
	case 3: /* no SL-to-VL maps */
		info->capability_mask &= ~IB_PORT_CAP_HAS_SL_MAP;
		break;
	case 4: /* more LIDs than it has been given, and other ones */
		info->mkey_lmc |= 7;
		info->base_lid = htobe16(1);
		break;
	case 5: /* a slow link without a unit in common */
		info->link_width_active = 1;
		info->mtu_cap = IB_MTU_LEN_256;
		break;
	}
}

static void lie_about_switch(unsigned int lie, ib_switch_info_t *info)
{
	if (lie == 6)
		info->mcast_cap = htobe16(0xFFFF);
	if (lie == 7) {
		info->lin_cap = htobe16(16);
		info->lin_top = htobe16(0xBFFF);
	}
}

static int answer_port_info(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	unsigned int num = be32toh(smp->attr_mod) & 0xFF;
	ib_port_info_t in;
	struct sim_port *p;
	int status = 0;

	if (!n->is_switch && !num)
		num = at;
	if (num > n->nports)
		return BAD_FIELD;
	p = sim_port_at(sim, n, num);
	memcpy(&in, smp->data, sizeof(in));
	if (smp->method == IB_MAD_METHOD_SET)
		status = set_port(sim, n, p, &in);
	memcpy(smp->data, &p->info, sizeof(p->info));
	((ib_port_info_t *)smp->data)->local_port_num = at;
	/* Whoever may write has had the key. */
	if (smp->method == IB_MAD_METHOD_GET && p->info.mkey_lmc >> 6 &&
	    p->info.m_key != smp->m_key)
		((ib_port_info_t *)smp->data)->m_key = 0;
	lie_about_port(n->lie, num != 0, (ib_port_info_t *)smp->data);
	return status;
}

/* ---- the others --------------------------------------------------------------- */

static int answer_node_info(struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	ib_node_info_t *info = memset(smp->data, 0, sizeof(smp->data));

	info->base_version = info->class_version = 1;
	info->node_type = n->is_switch ? IB_NODE_TYPE_SWITCH : IB_NODE_TYPE_CA;
	info->num_ports = n->nports;
	info->sys_guid = info->node_guid = htobe64(n->guid);
	info->port_guid = htobe64(n->guid + (n->is_switch ? 0 : at));
	info->partition_cap = htobe16(32);
	info->port_num_vendor_id = htobe32(at << 24);
	return 0;
}

static int answer_switch_info(struct sim *sim, struct sim_node *n, ib_smp_t *smp)
{
	const ib_switch_info_t *in = (ib_switch_info_t *)smp->data;
	ib_switch_info_t *info = &n->switch_info;
	uint16_t top;

	if (!n->is_switch)
		return BAD_ATTRIBUTE;
	if (smp->method == IB_MAD_METHOD_SET) {
		if (in->life_state & IB_SWITCH_PSC)
			info->life_state &= (uint8_t)~IB_SWITCH_PSC;
		info->life_state = (info->life_state & 7) | (in->life_state & 0xF8);
		top = be16toh(info->lin_top);
		info->lin_top = in->lin_top;
		if (be16toh(in->lin_top) != top)
			sim_judge_lft(sim, n, 1, IB_LID_MCAST_START_HO);
		info->mcast_top = in->mcast_top;
		info->def_port = in->def_port;
	}
	memset(smp->data, 0, sizeof(smp->data));
	memcpy(smp->data, info, sizeof(*info));
	lie_about_switch(n->lie, (ib_switch_info_t *)smp->data);
	return 0;
}

static int answer_map(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	uint32_t modifier = be32toh(smp->attr_mod);
	unsigned int in = n->is_switch ? modifier >> 8 & 0xFF : 0;
	unsigned int out = n->is_switch ? modifier & 0xFF : at;
	uint8_t before[8], *map;

	if (modifier & 0xFFFF0000 || in > n->nports || out > n->nports)
		return BAD_FIELD;
	map = sim_port_at(sim, n, out)->sl2vl + 8 * in;
	if (smp->method == IB_MAD_METHOD_SET && memcmp(map, smp->data, 8)) {
		memcpy(before, map, 8);
		memcpy(map, smp->data, 8);
		if (n->is_switch)
			sim_judge_map(sim, n, in, out, before, 0);
	}
	memset(smp->data, 0, sizeof(smp->data));
	memcpy(smp->data, map, 8);
	return 0;
}

/* What has no effect on routing: stored, and given back. */
static void store(ib_smp_t *smp, void *held, size_t size)
{
	if (smp->method == IB_MAD_METHOD_SET)
		memcpy(held, smp->data, size);
	memset(smp->data, 0, sizeof(smp->data));
	memcpy(smp->data, held, size);
}

static int answer_arbitration(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	uint32_t modifier = be32toh(smp->attr_mod);
	unsigned int num = n->is_switch ? modifier & 0xFFFF : at, part = (modifier >> 16) - 1;

	if (num > n->nports || part > 3)
		return BAD_FIELD;
	store(smp, sim_port_at(sim, n, num)->vlarb[part], 64);
	return 0;
}

static int answer_pkeys(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	uint32_t modifier = be32toh(smp->attr_mod);
	unsigned int num = n->is_switch ? modifier >> 16 : at;

	if (num > n->nports || modifier & 0xFFFF)
		return BAD_FIELD;
	store(smp, sim_port_at(sim, n, num)->pkeys, 64);
	return 0;
}

static int answer_lft(struct sim *sim, struct sim_node *n, ib_smp_t *smp)
{
	uint32_t block = be32toh(smp->attr_mod);

	if (!n->is_switch || block >= SIM_LFT_SIZE / BLOCK)
		return BAD_FIELD;
	if (smp->method == IB_MAD_METHOD_SET && memcmp(n->lft + block * BLOCK, smp->data, BLOCK)) {
		memcpy(n->lft + block * BLOCK, smp->data, BLOCK);
		sim_judge_lft(sim, n, block * BLOCK, (block + 1) * BLOCK);
	}
	memcpy(smp->data, n->lft + block * BLOCK, BLOCK);
	return 0;
}

static int answer_mft(struct sim *sim, struct sim_node *n, ib_smp_t *smp)
{
	uint32_t modifier = be32toh(smp->attr_mod), block = modifier & 0x1FF;
	const uint8_t *data = smp->data;
	unsigned int position = modifier >> 28;
	uint16_t before[MFT_BLOCK * SIM_MFT_POSITIONS];
	bool changed = false;

	if (!n->is_switch || block >= SIM_MLIDS / MFT_BLOCK)
		return BAD_FIELD;
	memcpy(before, &n->mft[block * MFT_BLOCK * SIM_MFT_POSITIONS], sizeof(before));
	for (unsigned int i = 0; i < MFT_BLOCK; i++) {
		uint16_t *mask = &n->mft[(block * MFT_BLOCK + i) * SIM_MFT_POSITIONS + position];
		uint16_t in = (uint16_t)(data[2 * i] << 8 | data[2 * i + 1]);

		if (smp->method == IB_MAD_METHOD_SET) {
			changed |= *mask != in;
			*mask = in;
		}
		smp->data[2 * i] = *mask >> 8;
		smp->data[2 * i + 1] = (uint8_t)*mask;
	}
	if (changed)
		sim_judge_mft(sim, n, block * MFT_BLOCK, before);
	return 0;
}

static int answer_guids(struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	uint64_t guid = htobe64(n->guid + (n->is_switch ? 0 : at));

	memset(smp->data, 0, sizeof(smp->data));
	if (!smp->attr_mod)
		memcpy(smp->data, &guid, sizeof(guid));
	return 0;
}

/* ---- management keys (14.2.4) -------------------------------------------------- */

/*
 * Without the right key an agent keeps silent: to a write, and from protection level 2 on
 * to a read.  From the first such SMP on the port's lease runs, until one comes with the
 * key; when it is over, so is the protection: anybody may read the key.
 */
static bool is_refused(struct sim *sim, struct sim_node *n, unsigned int at, const ib_smp_t *smp)
{
	struct sim_port *p = sim_end_port(sim, n, at);
	ib_port_info_t *info = &p->info;
	uint64_t lease = be16toh(info->m_key_lease_period) * SIM_SECOND;

	if (p->lease_ends && sim->now >= p->lease_ends) {
		info->mkey_lmc &= 0x3F;
		p->lease_ends = 0;
	}
	if (!info->m_key || info->m_key == smp->m_key) {
		p->lease_ends = 0;
		return false;
	}
	if (smp->method == IB_MAD_METHOD_GET && info->mkey_lmc >> 6 < 2)
		return false;
	if (info->m_key_violations != 0xFFFF)
		info->m_key_violations = htobe16((uint16_t)(be16toh(info->m_key_violations) + 1));
	if (!p->lease_ends && lease)
		p->lease_ends = sim->now + lease;
	sim_carry_report_key(sim, n, at, smp);
	sim->disturbed = sim->now;
	return true;
}

void sim_agent_key(struct sim *sim, struct sim_node *n, uint64_t key, unsigned int level,
		   uint16_t lease)
{
	for (unsigned int o = !n->is_switch; o <= (n->is_switch ? 0 : n->nports); o++) {
		struct sim_port *p = sim_port_at(sim, n, o);

		p->info.m_key = htobe64(key);
		p->info.m_key_lease_period = htobe16(lease);
		p->info.mkey_lmc = (uint8_t)(level << 6) | (p->info.mkey_lmc & 0x3F);
		p->lease_ends = 0;
	}
	n->is_keyed = key != 0;
	sim->disturbed = sim->now;
}

/* ---- all attributes ------------------------------------------------------------ */

/* As smps.c records what OpenSM sends under ibsim. */
static void record(FILE *to, const struct sim_node *n, const ib_smp_t *smp)
{
	uint64_t guid = be16toh(smp->attr_id) == NODE_INFO ? 0 : n->guid;

	fprintf(to, "%x %" PRIx64 " %x %x ", smp->method, guid, be16toh(smp->attr_id),
		be32toh(smp->attr_mod));
	for (unsigned int i = 0; i < sizeof(smp->data); i++)
		fprintf(to, "%02x", smp->method == IB_MAD_METHOD_SET ? smp->data[i] : 0);
	fputc('\n', to);
}

int sim_agent(struct sim *sim, struct sim_node *n, unsigned int at, ib_smp_t *smp)
{
	unsigned int attribute = be16toh(smp->attr_id);

	if (sim->o.record)
		record(sim->o.record, n, smp);
	if (is_refused(sim, n, at, smp))
		return -1;
	if (n->sick && attribute == 0x15 && be32toh(smp->attr_mod) & 0xFF) {
		sim->disturbed = sim->now;
		return -1;
	}
	if (n->lie)
		sim->disturbed = sim->now;
	if (sim->o.verbose > 1 && smp->method == IB_MAD_METHOD_SET)
		sim_say(sim, "write %s 0x%x 0x%x", n->name, be16toh(smp->attr_id),
			be32toh(smp->attr_mod));
	switch (attribute) {
	case 0x10:
		memset(smp->data, 0, sizeof(smp->data));
		memcpy(smp->data, n->name, strnlen(n->name, sizeof(smp->data)));
		return 0;
	case NODE_INFO:
		return answer_node_info(n, at, smp);
	case 0x12:
		return answer_switch_info(sim, n, smp);
	case 0x14:
		return answer_guids(n, at, smp);
	case 0x15:
		return answer_port_info(sim, n, at, smp);
	case 0x16:
		return answer_pkeys(sim, n, at, smp);
	case 0x17:
		return answer_map(sim, n, at, smp);
	case 0x18:
		return answer_arbitration(sim, n, at, smp);
	case 0x19:
		return answer_lft(sim, n, smp);
	case 0x1B:
		return answer_mft(sim, n, smp);
	case SMINFO: /* nobody is one here */
		return -1;
	}
	return BAD_ATTRIBUTE;
}

/* Attributes begin where those of SMPs do. */
int sim_agent_count(const struct sim *sim, const struct sim_node *n, ib_smp_t *mad)
{
	ib_port_counters_t *c = (ib_port_counters_t *)mad->data;
	ib_class_port_info_t *info = (ib_class_port_info_t *)mad->data;
	unsigned int port = c->port_select;

	switch (be16toh(mad->attr_id)) {
	case 0x01:
		memset(info, 0, sizeof(mad->data));
		info->base_ver = info->class_ver = 1;
		info->cap_mask = IB_PM_PC_XMIT_WAIT_SUP;
		return 0;
	case 0x12:
		if (port > n->nports)
			return BAD_FIELD;
		memset(c, 0, sizeof(mad->data));
		c->port_select = port;
		c->xmit_wait = n->is_switch ? htobe32(sim_judge_xmit_wait(sim, n->first + port)) :
					      0;
		return 0;
	}
	return BAD_ATTRIBUTE;
}
