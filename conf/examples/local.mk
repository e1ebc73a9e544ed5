# Configurations of OpenSM and of some tori; alert rules and a dashboard.
# Scenarios: the documents' examples step by step, and emulations.
examplesdir = $(docdir)/examples
dist_examples_DATA = conf/dateline.rules.yml \
	conf/dateline.grafana.json \
	conf/opensm.conf \
	conf/qos-policy.conf \
	conf/dateline-propose.service \
	conf/dateline-propose.timer \
	conf/torus-4x4x4.conf \
	conf/torus-6x5.conf \
	conf/torus-8x8x4-mesh.conf \
	conf/torus-8x8x8.conf \
	conf/examples/arbitrate-figure-25-10.yaml \
	conf/examples/arbitrate-low-turn.yaml \
	conf/examples/arbitrate-priorities.yaml \
	conf/examples/arbitrate-tables.yaml \
	conf/examples/chain-three-nodes.yaml \
	conf/examples/credits-chunks.yaml \
	conf/examples/credits-due.yaml \
	conf/examples/credits-full.yaml \
	conf/examples/credits-loss.yaml \
	conf/examples/credits-receiver.yaml \
	conf/examples/credits-rollover.yaml \
	conf/examples/emulate-all-to-all.yaml \
	conf/examples/emulate-arbitration.yaml \
	conf/examples/emulate-deadlock-6x5.yaml \
	conf/examples/emulate-faults.yaml \
	conf/examples/emulate-hotspot.yaml \
	conf/examples/emulate-link-returns.yaml \
	conf/examples/emulate-long-cable.yaml \
	conf/examples/emulate-management.yaml \
	conf/examples/emulate-qos-mix.yaml \
	conf/examples/emulate-record.yaml \
	conf/examples/emulate-rewrite.yaml \
	conf/examples/emulate-slow-receiver.yaml \
	conf/examples/emulate-switching.yaml \
	conf/examples/emulate-tornado.yaml \
	conf/examples/emulate-trace.txt \
	conf/examples/emulate-trace.yaml \
	conf/examples/emulate-uniform.yaml \
	conf/examples/torus-5x4x2-services.net
