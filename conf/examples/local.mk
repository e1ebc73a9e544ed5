# Scenarios that follow the documents' examples step by step.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	conf/examples/arbitrate-figure-25-10.yaml \
	conf/examples/arbitrate-low-turn.yaml \
	conf/examples/arbitrate-priorities.yaml \
	conf/examples/chain-current-downstream.yaml \
	conf/examples/chain-upstream-current.yaml \
	conf/examples/credits-chunks.yaml \
	conf/examples/credits-full.yaml \
	conf/examples/credits-loss.yaml \
	conf/examples/credits-receiver.yaml \
	conf/examples/credits-rollover.yaml
