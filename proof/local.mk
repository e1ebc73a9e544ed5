# Theorems about what rules.md states, for Coq; doc/proof.md introduces them.
# `make check-proof` needs coq and ocaml, which a build does not.
EXTRA_DIST += proof/Makefile proof/check.bash proof/Net.v proof/Drain.v \
	proof/Dor.v proof/Torus.v proof/Anysl.v proof/Broken.v proof/Multicast.v proof/Anygroup.v proof/Early.v \
	proof/Claim.v proof/Tree.v proof/Transition.v \
	proof/Checker.v proof/Change.v proof/Alike.v proof/Six.v \
	proof/Credit.v proof/Service.v proof/Fair.v proof/Worm.v proof/Extract.v proof/Model.v \
	proof/conform.bash proof/conform.ml proof/conform_link.ml proof/mutants.py proof/planted.bash

.PHONY: check-proof
check-proof: all
	bash $(srcdir)/proof/check.bash "$(abs_builddir)"

clean-local: clean-proof
.PHONY: clean-proof
clean-proof:
	rm -rf proof/out
