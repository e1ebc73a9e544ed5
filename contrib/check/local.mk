# The checker of certificates.  checker.ml is extracted from proof/Checker.v:
# `make check-proof` extracts it again and compares.
checker_files = contrib/check/checker.mli contrib/check/checker.ml \
	contrib/check/dumps.ml contrib/check/search.ml contrib/check/world.ml \
	contrib/check/change.ml contrib/check/main.ml
EXTRA_DIST += $(checker_files) man/dateline-check.1

# What ocamlopt writes lies beside the sources: copies are compiled.
contrib/check/dateline-check: $(checker_files)
	$(AM_V_GEN)rm -rf contrib/check/compiled && mkdir -p contrib/check/compiled
	@for file in $(checker_files); do \
		cp "$(srcdir)/$$file" contrib/check/compiled/ || exit; done
	@cd contrib/check/compiled && $(OCAMLOPT) -g -inline 200 checker.mli checker.ml dumps.ml search.ml world.ml \
		change.ml main.ml -o ../dateline-check

clean-local: clean-checker
.PHONY: clean-checker
clean-checker:
	rm -rf contrib/check/compiled contrib/check/dateline-check
