# Scenarios: the documents' examples step by step, and emulations.  Alert rules.
examplesdir = $(docdir)/examples
dist_examples_DATA = conf/dateline.rules.yml \
	conf/examples/arbitrate-figure-25-10.yaml \
	conf/examples/arbitrate-low-turn.yaml \
	conf/examples/arbitrate-priorities.yaml \
	conf/examples/chain-current-downstream.yaml \
	conf/examples/chain-upstream-current.yaml \
	conf/examples/credits-chunks.yaml \
	conf/examples/credits-full.yaml \
	conf/examples/credits-loss.yaml \
	conf/examples/credits-receiver.yaml \
	conf/examples/credits-rollover.yaml \
	conf/examples/emulate-all-to-all.yaml \
	conf/examples/emulate-deadlock-6x5.yaml \
	conf/examples/emulate-faults.yaml \
	conf/examples/emulate-hotspot.yaml \
	conf/examples/emulate-qos-mix.yaml \
	conf/examples/emulate-tornado.yaml \
	conf/examples/emulate-trace.txt \
	conf/examples/emulate-trace.yaml \
	conf/examples/emulate-uniform.yaml
